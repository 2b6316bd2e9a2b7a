#!/bin/sh
# SPDX-License-Identifier: MIT
# fio JSON with messages around it and its end missing: read to the last complete value, closed, and the record says so.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
data=$(dirname "$0")/../data/import
{
	printf 'fio: some warning\nJobs: 1 (f=1): [w(1)][10.0%%][eta 00m:07s]\r'
	head -c 6000 "$data/fio-jsonplus.json"
} >"$dir/cut.json"
"$STALLMARK" import "$dir/cut.json" -o "$dir/a.smk" --json >"$dir/a.json"
grep -q 'up to the last complete value' "$dir/a.json"
grep -q 'are messages and were left out' "$dir/a.json"
grep -q '"name": "read.iops"' "$dir/a.json"
"$STALLMARK" show "$dir/a.smk" | grep -qi 'cut off'
# every cut ends with an answer or a sentence, never with a crash
for n in 10 200 1500 3000 5000 9000 11000; do
	head -c $n "$data/fio-jsonplus.json" >"$dir/cut.json"
	r=0
	"$STALLMARK" import "$dir/cut.json" --as fio-json -o "$dir/b.smk" --force >/dev/null 2>"$dir/err" || r=$?
	case $r in
	0) ;;
	2) grep -q "stallmark: '.*cut.json' holds no results of fio" "$dir/err" ;;
	*) echo "$n bytes: exit $r"; exit 1 ;;
	esac
done
