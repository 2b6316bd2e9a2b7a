#!/bin/bash
# SPDX-License-Identifier: MIT
# Ctrl-C while mkfs runs: exit 130, and nothing is left. kill -9 of the starter: the next command takes it all away.
set -eu
. "$(dirname "$0")/lib.sh"
need_root; need_loop; need_fuse; need_fs ext4; need_program jq
scratch; begin
at_end() { "$STALLMARK" lab down --all; }
# an mkfs that never ends, found first in PATH
mkdir "$scratch/bin"
printf '#!/bin/sh\necho started >"%s/started"\nexec sleep 1000\n' "$scratch" >"$scratch/bin/mkfs.ext4"
chmod +x "$scratch/bin/mkfs.ext4"
for sig in INT TERM; do
	rm -f "$scratch/started"
	# setsid: a background job of this script would ignore SIGINT
	PATH=$scratch/bin:$PATH setsid "$STALLMARK" lab up test-c size=64M >"$scratch/out" 2>&1 &
	pid=$!
	wait_for 20 test -e "$scratch/started" || fail "mkfs was not started: $(cat "$scratch/out")"
	kill -$sig $pid
	rc=0
	wait $pid || rc=$?
	cat "$scratch/out"
	want=143
	[ $sig = TERM ] || want=130
	[ $rc -eq $want ] || fail "exit $rc after SIG$sig"
	grep -q interrupted "$scratch/out"
	[ "$("$STALLMARK" lab list --json | jq '[.labs[] | select(.name == "test-c")] | length')" = 0 ]
	! grep -q lab-test-c /proc/self/mountinfo || fail "a mount is left"
done
rm -f "$scratch/started"
PATH=$scratch/bin:$PATH setsid "$STALLMARK" lab up test-c size=64M >"$scratch/out" 2>&1 &
pid=$!
wait_for 20 test -e "$scratch/started"
kill -9 $pid
wait $pid || true
grep -q lab-test-c /proc/self/mountinfo
"$STALLMARK" lab up test-d size=64M fs=none sched=none
! grep -q lab-test-c /proc/self/mountinfo || fail "the next command left the remains"
"$STALLMARK" lab down test-d
for p in /proc/[0-9]*; do	# the endless mkfs of the killed one is ours to end
	if grep -qsz "STALLMARK_TEST=$scratch" "$p/environ" && [ "$(cat "$p/comm" 2>/dev/null)" = sleep ]; then kill "${p#/proc/}"; fi
done
