#!/bin/bash
# SPDX-License-Identifier: MIT
# A scenario with two labs and a planted freeze: dir = @NAME works, the probe's worst wait is the 3 s of the freeze, the
# record holds what the disks served, the fault as truth, and how late the server was.
set -eu
. "$(dirname "$0")/lib.sh"
need_root; need_loop; need_fuse; need_fs ext4; need_fs xfs; need_program mkfs.xfs; need_program jq; need_program sqlite3
scratch; begin
cat >"$scratch/two.scenario" <<'S'
# Does a frozen disk show?
idle = 0s
recovery = 0s
time = 12s
[lab log]
disk = hdd7200_2009
size = 512M
poke.4s = freeze=3s
[lab data]
disk = ssd_sata_2009
fs = xfs
size = 512M
[probe fsync]
dir = @log
pause = 200ms
size = 4k
[probe tick]
[load write]
dir = @data
n = 1
size = 64M
S
cp "$scratch/two.scenario" "$scratch/wrong.scenario"
sed -i 's/@log/@lok/' "$scratch/wrong.scenario"
rc=0
"$STALLMARK" run "$scratch/wrong.scenario" --dir "$scratch" --yes >"$scratch/out" 2>&1 || rc=$?
[ $rc -eq 2 ]
grep 'did you mean @log' "$scratch/out"
"$STALLMARK" run "$scratch/two.scenario" --dir "$scratch" --yes -q --no-recovery -o "$scratch/x.smk" --json >"$scratch/json" 2>"$scratch/err" || {
	cat "$scratch/err"
	fail "the run failed"
}
cat "$scratch/err"
jq -c '.probes[] | {name, n, worst}' "$scratch/json"
worst=$(jq '.probes[] | select(.name == "fsync") | .worst.seconds // .worst.at_least' "$scratch/json")
awk -v w="$worst" 'BEGIN { exit !(w > 2.9 && w < 3.6) }' || fail "worst fsync is $worst s, the disk was frozen for 3 s"
sqlite3 "$scratch/x.smk" 'select kind, text, dur from truth' | tee "$scratch/truth"
grep -q 'freeze|freeze=3s|3000000000' "$scratch/truth"
sqlite3 "$scratch/x.smk" "select text from note where key = 'lab-lateness'" | tee "$scratch/late"
[ "$(grep -c answered "$scratch/late")" = 2 ]
sqlite3 "$scratch/x.smk" "select value from env where key = 'lab.log.disk'" | grep -q hdd7200_2009
