#!/bin/sh
# SPDX-License-Identifier: MIT
# A probe that cannot run is said and left out; when none can, the run ends with exit 2 and nothing is left.
set -eu
. "$(dirname "$0")/run-lib.sh"
scenario <<EOF
time = 1s
idle = 300ms
recovery = no
[probe tick]
[probe app-start]
command = /nonexistent/browser
EOF
run --allow-commands >"$scratch/out" 2>"$scratch/err" || fail "exit $?"
grep -q "no program '/nonexistent/browser'" "$scratch/out" || fail "it is not said: $(cat "$scratch/out")"
[ "$(json 'p["tick"]["n"] > 50, p["app-start"]["n"], d["run"]["partial"]')" = 'True 0 False' ] || fail "$(json 'd["probes"]')"
sed -i '/probe tick/d' "$scratch/t.scenario"
rc=0
run --allow-commands >"$scratch/out" 2>"$scratch/err" || rc=$?
[ $rc = 2 ] || fail "exit $rc, not 2"
grep -q "no probe can run" "$scratch/err" || fail "it is not said"
nothing_left
