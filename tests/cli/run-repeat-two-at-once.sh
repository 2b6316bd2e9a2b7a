#!/bin/bash
# SPDX-License-Identifier: MIT
# --repeat makes one record of several runs; two runs in one directory at once do not touch each other's files.
set -eu
. "$(dirname "$0")/run-lib.sh"
small
run --repeat 3 -q >"$scratch/out" 2>"$scratch/err" & one=$!
"$STALLMARK" run "$scratch/t.scenario" --dir "$scratch/dir" --yes -q -o "$scratch/y.smk" >"$scratch/out2" 2>"$scratch/err2" & two=$!
rc=0; wait $one || rc=$?
[ $rc = 0 ] || fail "the first exits with $rc"
rc=0; wait $two || rc=$?
[ $rc = 0 ] || fail "the second exits with $rc: $(cat "$scratch/err2")"
[ "$(json 'd["run"]["runs"], len(d["run"]["each"]), d["run"]["partial"]')" = '3 3 False' ] || fail "three runs: $(json 'd["run"]')"
[ "$(json 'd["run"]["runs"]' "$scratch/y.smk")" = 1 ]
grep -q '3 runs x 1' "$scratch/out" || fail "$(cat "$scratch/out")"
nothing_left
