#!/bin/bash
# SPDX-License-Identifier: MIT
# kill -9 of the controller: probes and loads end by themselves; clean takes the folder away, recover reads what is there.
set -eu
. "$(dirname "$0")/run-lib.sh"
small 60s
start
wait_for 30 grep -q ^measuring "$scratch/err" || fail "it does not measure"
sleep 1		# of measuring: a kill before the first tick is due leaves no sample, rightly
kids=$(pgrep -P $pid)
[ "$(echo "$kids" | wc -l)" -ge 3 ] || fail "where are its children?"
kill -9 $pid
wait $pid 2>/dev/null || true
none() { for k in $kids; do [ ! -d "/proc/$k" ] || grep -q '^State:.Z' "/proc/$k/status" || return 1; done; }
wait_for 10 none || fail "children outlive the controller: $kids"
[ -n "$(ls -A "$scratch/dir")" ] || fail "the folder went without clean?"
rec=$(ls /run/stallmark/t-$pid.smk /dev/shm/stallmark-*/t-$pid.smk "${XDG_RUNTIME_DIR:-/nowhere}"/stallmark/t-$pid.smk 2>/dev/null || true)
[ -n "$rec" ] || fail "no record of the killed run in memory"
"$STALLMARK" recover -o "$scratch/r.smk" "$rec" >"$scratch/rec" 2>&1 || fail "recover: $(cat "$scratch/rec")"
[ "$(json 'd["run"]["partial"], p["tick"]["n"] > 0' "$scratch/r.smk")" = 'True True' ] || fail "not a partial run with samples"
[ ! -e "$rec" ] || fail "$rec stays in memory"
"$STALLMARK" clean --yes >"$scratch/clean" 2>&1 || fail "clean: $(cat "$scratch/clean")"
[ -z "$(ls -A "$scratch/dir")" ] || fail "clean left $(ls -A "$scratch/dir"): $(cat "$scratch/clean")"
