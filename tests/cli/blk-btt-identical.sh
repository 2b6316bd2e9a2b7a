#!/bin/bash
# SPDX-License-Identifier: MIT
# `stallmark blk --btt NAME` prints the tables that `blkparse -d` and btt 1.2.0 print, to the last digit: merges, splits,
# requeues, remaps, several devices, overlapping requests. (btt dies on payloads that are missing, so no broken traces.)
set -eu
command -v btt > /dev/null || { echo "btt is not installed"; exit 77; }
gen=$(dirname "$STALLMARK")/../tests/blk/blkgen
[ -x "$gen" ] || { echo "blkgen is not built"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
n=0

same() { # label
	blkparse -i t -O -d dump > /dev/null 2>&1
	btt -i dump 2> /dev/null | sed -n '/^=* All Devices/,/^# Total System/p' | sed '$d' > ref
	"$STALLMARK" blk --btt t > got 2> notes
	[ -s ref ] || { echo "btt printed nothing for $1"; exit 1; }
	cmp ref got || { echo "$1:"; diff ref got | head -20; exit 1; }
	n=$((n + 1))
	rm -f t.blktrace.*
}

for seed in $(seq 1 12); do
	"$gen" requests t seed="$seed" events=40
	same "small $seed"
	"$gen" requests t seed="$seed" events=4000 cgroup=0.02 devs=$((seed % 5 + 1)) cpus=$((seed % 4 + 1))
	same "devices $seed"
	"$gen" requests t seed="$seed" events=3000 remap=0.1 sub_kib=0.1 requeue=0.1 split=0.1
	same "remaps $seed"
done
"$gen" cpus64 t
same cpus64
grep -q MEDIAN notes
echo "$n tables are the same"
