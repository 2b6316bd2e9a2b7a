#!/bin/bash
# SPDX-License-Identifier: MIT
# fit on a modelled disk finds what the model is: a turning disk, its random read within 15 %, its sequential rate within
# 15 %; the profile it writes loads, and its own random read is within 10 % of what was measured. The device is not written.
set -eu
. "$(dirname "$0")/lib.sh"
need_root; need_loop; need_fuse; need_program jq
scratch; begin
at_end() { "$STALLMARK" lab down --all; }
"$STALLMARK" lab up test-fit disk=hdd7200_2009 fs=none sched=none size=1G
dev=$("$STALLMARK" lab list --json | jq -r '.labs[] | select(.name == "test-fit") | .device')
"$STALLMARK" lab fit --device "$dev" --time 20s -o "$scratch/mine.profile" --json >"$scratch/json"
jq -c 'del(.profile)' "$scratch/json"
cat "$scratch/mine.profile"
"$STALLMARK" lab status test-fit --json | jq -e '.stored == 0'	# nothing was written
want=$("$STALLMARK" lab disks hdd7200_2009 --json | jq '.random_read')
rate=$("$STALLMARK" lab disks hdd7200_2009 --json | jq '.sequential')
jq -e '.model == "hdd" and (.model_off | . > -0.1 and . < 0.1)' "$scratch/json"
void=
jq -e --argjson w "$want" --argjson r "$rate" '(.random_read / $w | . > 0.85 and . < 1.15) and (.outer / $r | . > 0.85 and . < 1.15)' \
	"$scratch/json" || {
	# on a busy machine the reader itself waits for the CPU: then the numbers say nothing about the disk
	read -r load _ </proc/loadavg
	awk -v l="$load" -v n="$(nproc)" 'BEGIN { exit !(l > n) }' || fail "not the disk that is modelled ($want s, $rate bytes/s)"
	void="load $load on $(nproc) CPUs: $(jq -c '{random_read, outer}' "$scratch/json") against $want s and $rate bytes/s"
}
"$STALLMARK" lab disks "$scratch/mine.profile" | head -5
# a file: writes and flushes as well; nothing stays behind
mkdir "$scratch/dir"
"$STALLMARK" lab fit --dir "$scratch/dir" --time 4s --json >"$scratch/json"
jq -c 'del(.profile)' "$scratch/json"
[ -z "$(ls -A "$scratch/dir")" ]
jq -e '.flush > 0 and (.model_off | . > -0.5 and . < 0.5)' "$scratch/json"
rc=0
"$STALLMARK" lab fit --device "$scratch/dir" >/dev/null 2>"$scratch/err" || rc=$?
[ $rc -eq 2 ]
cat "$scratch/err"
[ -z "$void" ] || skip "$void"
