#!/bin/bash
# SPDX-License-Identifier: MIT
# `stallmark blk --blkparse`, with and without -s, is blkparse 1.2.0's end summary to the byte: on every hand-made edge
# case, on random traces, as files, as streams and as merged dumps. Only "Input file" and message lines are left out.
set -eu
command -v blkparse > /dev/null || { echo "blkparse is not installed"; exit 77; }
blkparse -V | grep -q 1.2.0 || { echo "another blkparse than 1.2.0: $(blkparse -V)"; exit 77; }
gen=$(dirname "$STALLMARK")/../tests/blk/blkgen
[ -x "$gen" ] || { echo "blkgen is not built"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
n=0

# "discarded traces ..." goes through another buffer than the summary: compared apart
same() { # label, blkparse arguments, then our argument; stdin for streams
	local label=$1 theirs=$2 ours=$3 input=${4:-/dev/null} s
	for s in "" -s; do
		# shellcheck disable=SC2086
		blkparse $theirs -f "" $s -o ref > said 2> /dev/null < "$input" || { echo "blkparse failed on $label" >> failed; continue; }
		sed -i '/^ *[0-9]*,[0-9]* *[0-9]* *0 .* m   N /d' ref
		# shellcheck disable=SC2086
		"$STALLMARK" blk --blkparse $s $ours > got 2> /dev/null < "$input" || echo "$label: exit $?" >> failed
		grep -a '^discarded' said > said.lines || true
		grep -a '^discarded' got > got.lines || true
		[ -s got.lines ] && { sed -i '/^discarded/d' got; sed -i '$d' got; }
		cmp ref got >> failed 2>&1 || diff ref got | head -5 >> failed
		cmp said.lines got.lines >> failed 2>&1 || true
		n=$((n + 1))
	done
}

for c in $("$gen" cases); do
	"$gen" "$c" t
	same "$c" "-i t" t
	same "$c as a stream" "-i -" - t.blktrace.0
	rm -f t.blktrace.*
done
for seed in $(seq 1 8); do
	for kind in requests chaos strange; do
		"$gen" $kind t seed="$seed" cpus=$((seed % 5 + 1)) devs=$((seed % 3 + 1)) events=$((seed * 150)) swapped=$((seed % 7 == 0))
		same "$kind $seed" "-i t" t
		cat t.blktrace.* > all
		same "$kind $seed as a stream" "-i -" - all
		blkparse -i t -O -d dump > /dev/null 2>&1
		same "$kind $seed as a dump" "-i -" - dump
		rm -f t.blktrace.*
	done
done
"$gen" requests a events=3000 seed=3
"$gen" requests b events=2000 seed=4 cpus=3
same "two devices" "-i a -i b" "a b"
if [ -s failed ]; then head -30 failed; exit 1; fi
echo "$n summaries are the same"
