#!/bin/sh
# SPDX-License-Identifier: MIT
# --fail-if: 0 when nothing is true, 1 when one is, with value and limit; limits of a scenario say PASS, FAIL, UNDECIDED.
set -eu
. "$(dirname "$0")/run-lib.sh"
small
printf '[probe wal]\n' >>"$scratch/t.scenario"
sed -i '1i limit = wal.usual < 1h (a test)\nlimit = wal.worst < 1ns\nlimit = fsync.p99 < 1h (needs 368 waits)' "$scratch/t.scenario"
rc=0; run --fail-if 'fsync.worst > 1h' >"$scratch/out" 2>"$scratch/err" || rc=$?
[ $rc = 0 ] || fail "a gate that holds exits with $rc"
grep -q 'FAIL: 1 of 3 limits hold' "$scratch/out" || fail "limits: $(cat "$scratch/out")"
grep -Eq 'wal.usual < 1h +.* PASS +a test' "$scratch/out" || fail "PASS: $(cat "$scratch/out")"
grep -Eq 'wal.worst < 1ns .* FAIL' "$scratch/out" || fail "FAIL: $(cat "$scratch/out")"
grep -Eq 'fsync.p99 < 1h .* UNDECIDED' "$scratch/out" || fail "UNDECIDED: $(cat "$scratch/out")"
rc=0; "$STALLMARK" show --fail-if 'fsync.worst > 1ns' --fail-if 'fsync.n > 1M' --json "$scratch/x.smk" >"$scratch/json" || rc=$?
[ $rc = 1 ] || fail "a gate that fails exits with $rc"
python3 -c '
import json, sys
g = json.load(open(sys.argv[1]))["gates"]
assert [x["ok"] for x in g] == [False, True] and g[0]["value"] > 0 and g[0]["limit"] == 1e-9 and g[0]["name"] == "fsync.worst > 1ns", g
' "$scratch/json"
nothing_left
