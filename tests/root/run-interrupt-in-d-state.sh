#!/bin/bash
# SPDX-License-Identifier: MIT
# Ctrl-C while probes and writers are in D state: within a second the partial answer is on the screen and the record is
# closed; who still is in the kernel is named; when the disk lives again, the folder goes and the record is at its place.
set -eu
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/loop-lib.sh"
need_root; need_loop; need_fs ext4; need_program fsfreeze
at_end() { at_end_loop; }
scratch
begin
mount_loop 300 ext4
cat >"$scratch/t.scenario" <<EOF
time = 60s
idle = 1s
load-up = 2s
[probe fsync]
pause = 100ms
[probe tick]
[load write]
n = 2
size = 60M
EOF
"$STALLMARK" run "$scratch/t.scenario" --dir "$mnt" --yes -o "$scratch/x.smk" >"$scratch/out" 2>"$scratch/err" & pid=$!
wait_for 30 grep -q ^measuring "$scratch/err" || fail "it does not measure: $(cat "$scratch/err")"
fsfreeze -f "$mnt"
in_d() { # both writers and the probe
	[ "$(for p in $(pgrep -P $pid); do grep -s '^State:.D' /proc/"$p"/status; done | wc -l)" -ge 3 ]
}
wait_for 10 in_d || fail "nobody is in D state"
t0=$(date +%s%N)
kill -INT $pid
rc=0; wait $pid || rc=$?
ms=$((($(date +%s%N) - t0) / 1000000))
echo "gone after $ms ms, exit $rc"
cat "$scratch/out" "$scratch/err"
[ $rc = 130 ] || fail "exit code $rc"
grep -q 'PARTIAL: ended by Ctrl-C' "$scratch/out" || fail "no partial answer"
grep -q '3 tasks still finishing in the kernel (D), not waiting: probe fsync (pid [0-9]*), load write/0' "$scratch/err" ||
	fail "who is in D state is not named"
[ $ms -lt 1000 ] || fail "took $ms ms"
ls -d "$mnt"/stallmark-* >/dev/null 2>&1 || fail "the folder cannot be gone yet"
fsfreeze -u "$mnt"
gone() { ! ls -d "$mnt"/stallmark-* 2>/dev/null; }
wait_for 20 gone || fail "the folder stays"
wait_for 5 test -s "$scratch/x.smk" || fail "the record did not arrive"
[ "$(json "$scratch/x.smk" 'd["run"]["partial"]')" = True ]
[ "$(json "$scratch/x.smk" 'p["fsync"]["censored"]')" = 1 ] || fail "the action in flight is not there as a lower bound"
