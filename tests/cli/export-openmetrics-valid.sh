#!/bin/bash
# SPDX-License-Identifier: MIT
# OpenMetrics: buckets add up, no timestamps, ends with # EOF, base units; promtool (Debian: prometheus) agrees when there.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
printf 'wait\n0.0005\n0.25\n2\n50\n' >"$dir/a.csv"
"$STALLMARK" import "$dir/a.csv" -o "$dir/a.smk" >/dev/null
"$STALLMARK" export "$dir/a.smk" --as openmetrics >"$dir/m"
[ "$(tail -1 "$dir/m")" = '# EOF' ]
grep -q '^stallmark_wait_seconds_bucket{probe="wait",run="1",le="0.3"} 2$' "$dir/m"
grep -q '^stallmark_wait_seconds_bucket{probe="wait",run="1",le="+Inf"} 4$' "$dir/m"
grep -q '^stallmark_wait_seconds_sum{probe="wait",run="1"} 52.2505$' "$dir/m"
grep -q '^stallmark_wait_max_seconds{probe="wait",run="1"} 50$' "$dir/m"
grep -q '^stallmark_stalls{probe="wait",run="1"} 2$' "$dir/m"
# each line is a comment or NAME{LABELS} VALUE, and families stand together
awk '/^#/ { if ($2 == "TYPE") { if (seen[$3]++) bad = 1 } next }
	NF < 2 || !/^[a-z_]+({[^}]*})? [-+0-9.e]+$/ { print "bad line: " $0; bad = 1 } END { exit bad }' "$dir/m"
# when the pauses between the waits are unknown, no share of time is made up
if grep -q '^stallmark_stuck_ratio{' "$dir/m"; then echo "a stuck share out of nothing"; exit 1; fi
command -v promtool >/dev/null || { echo "promtool is missing (Debian: prometheus): checked without it"; exit 0; }
promtool check metrics <"$dir/m"
