#!/bin/bash
# SPDX-License-Identifier: MIT
# SIGINT, SIGTERM and SIGHUP in every phase: a partial record that opens, the right exit code, nothing left.
set -eu
. "$(dirname "$0")/run-lib.sh"
small 30s
sed -i 's/idle = .*/idle = 2s/; s/load-up = .*/load-up = 4s/; /recovery = no/d' "$scratch/t.scenario"
code_of() { case $1 in INT) echo 130 ;; TERM) echo 143 ;; HUP) echo 129 ;; esac; }
for what in INT:idle TERM:load INT:measuring HUP:measuring; do
	sig=${what%:*} phase=${what#*:}
	rm -f "$scratch/x.smk" "$scratch/err"
	: >"$scratch/err"
	start
	wait_for 30 grep -q "^$phase" "$scratch/err" || fail "phase '$phase' does not come"
	kill "-$sig" $pid
	rc=0; wait $pid || rc=$?
	[ $rc = "$(code_of "$sig")" ] || fail "SIG$sig while $phase: exit $rc"
	grep -q 'PARTIAL: ended by' "$scratch/out" || fail "SIG$sig while $phase: no partial answer: $(cat "$scratch/out")"
	wait_for 20 test -s "$scratch/x.smk" || fail "SIG$sig while $phase: no record"
	[ "$(json 'd["run"]["partial"]')" = True ] || fail "SIG$sig while $phase: not marked partial"
	empty() { [ -z "$(ls -A "$scratch/dir")" ]; }
	wait_for 20 empty || fail "SIG$sig while $phase: the folder stays"
done
# in recovery the measured part is whole; the run is partial all the same
sed -i 's/time = .*/time = 1s/; s/pause = .*/pause = 5s/; s/idle = .*/idle = 12s/' "$scratch/t.scenario"
: >"$scratch/err"
start
wait_for 60 grep -q ^recovery "$scratch/err" || fail "recovery does not come"
kill -INT $pid
rc=0; wait $pid || rc=$?
[ $rc = 130 ] || fail "in recovery: exit $rc"
wait_for 20 empty || fail "in recovery: the folder stays"
sleep_free() { nothing_left; }
wait_for 20 sleep_free
nothing_left
