#!/bin/bash
# SPDX-License-Identifier: MIT
# What csv, fio-lat and hdr write is read again with the same waits (hdr: within its 0.1 %), also by order.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
sm=$STALLMARK
"$sm" import "$(dirname "$0")/../data/2010-07-cfq-fsync/ext4_vanilla.fsync-tester.log" -o "$dir/a.smk" >/dev/null
"$sm" export "$dir/a.smk" --as csv -o "$dir/a.csv"
cut -d, -f4 "$dir/a.csv" >"$dir/want"
[ "$(sed -n 2p "$dir/want")" = 3.408000000 ]
[ "$(wc -l <"$dir/want")" -eq 13 ]
for f in csv fio-lat; do
	"$sm" export "$dir/a.smk" --as $f -o "$dir/x.log"
	"$sm" import "$dir/x.log" -o "$dir/b.smk" --force --json | grep -q "\"format\": \"$f\""
	"$sm" export "$dir/b.smk" --as csv | cut -d, -f4 | diff - "$dir/want" || { echo "$f changed the waits"; exit 1; }
	rm "$dir/x.log"
done
"$sm" export "$dir/a.smk" --as hdr >"$dir/x.hlog"
"$sm" import "$dir/x.hlog" -o "$dir/b.smk" --force >/dev/null
paste -d' ' <("$sm" export "$dir/b.smk" --as csv | sed 1d | cut -d, -f4 | sort -n) <(sed 1d "$dir/want" | sort -n) |
	awk '{ d = $1 / $2 - 1; if (d < -.001 || d > .001) { print; bad = 1 } n++ } END { exit bad || n != 12 }'
