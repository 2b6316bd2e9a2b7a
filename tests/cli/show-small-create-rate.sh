#!/bin/sh
# SPDX-License-Identifier: MIT
# small-create: show says files/s as fs_mark counts, and the record's own numbers agree: the rate of whole iterations is the
# number of waits over the time measured, since no pause lies between them.
set -eu
[ -w /dev/shm ] || { echo "SKIP: /dev/shm cannot be written"; exit 77; }
d=$(mktemp -d /dev/shm/stallmark-test.XXXXXX)
trap 'rm -rf "$d"' EXIT
cat >"$d/s.scenario" <<'EOF'
time = 2s
idle = 0.2s
load-up = 0.2s
recovery = no
[probe small-create]
files = 50
dirs = 3
sync = no
pause = 0
EOF
"$STALLMARK" run "$d/s.scenario" --dir "$d" --yes -q -o "$d/r.smk" >"$d/out" 2>"$d/err" || { cat "$d/err"; exit 1; }
grep -q 'small-create: .* files/s as fs_mark counts' "$d/out" || { cat "$d/out"; exit 1; }
"$STALLMARK" show "$d/r.smk" --json >"$d/j"
jq -e '.rates[0].iterations > 5' "$d/j" >/dev/null || { jq .rates "$d/j"; exit 1; }
# unlinks lie between iterations: the rate within them is higher than waits a second, by less than two times
jq -e '.probes[0].n as $n | .rates[0].per_s as $r | $r > $n / 2 and $r < $n' "$d/j" >/dev/null ||
	{ jq '{n: .probes[0].n, rates}' "$d/j"; exit 1; }
