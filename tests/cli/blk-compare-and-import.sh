#!/bin/bash
# SPDX-License-Identifier: MIT
# Two block traces are sides of a comparison, by name of the set, as dumps and as imported records: the same rows, with the
# totals by the names blkparse's text has, bytes by process, and the waits in the queue and at the device. Text totals and a trace
# compare as far as the text goes.
set -eu
gen=$(dirname "$STALLMARK")/../tests/blk/blkgen
[ -x "$gen" ] || { echo "blkgen is not built"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
"$gen" requests a events=20000 seed=1 flush=0 discard=0 requeue=0
"$gen" requests b events=20000 seed=2 merge=0.1 flush=0 discard=0 requeue=0
"$STALLMARK" compare --json a b > ab.json
"$STALLMARK" compare a b > ab.txt
grep -q 'q2c_writes' ab.txt
grep -q 'd2c_reads' ab.txt
grep -q 'write_merges' ab.txt
grep -q 'fio0.write_bytes' ab.txt
# the totals are those of our own summary, which are blkparse's
"$STALLMARK" blk --json a > a.json
"$STALLMARK" import a -o a.smk --json > import.json
jq -e --slurpfile t a.json '
	(.results | map({(.name): (.value | split(" ")[0] | tonumber)}) | add) as $r
	| $t[0].devices[0].amounts as $a
	| $r.reads_queued == $a[0].queued and $r.writes_queued == $a[1].queued
	  and $r.write_dispatches == $a[1].dispatched and $r.write_merges > 100
	  and .format == "blktrace" and .waits > 1000' import.json > /dev/null
# an imported record and the trace are the same side
"$STALLMARK" import b -o b.smk > /dev/null
"$STALLMARK" compare a.smk b.smk > smk.txt
grep -q 'q2c_writes' smk.txt
if command -v blkparse > /dev/null; then
	blkparse -i a -f "" 2> /dev/null > a.total
	"$STALLMARK" compare a.total a > same.txt
	! grep -Eq '^ *(writes_queued|read_dispatches|write_dispatches|write_merges)(_bytes)? .*[1-9]\.[0-9]%' same.txt || { cat same.txt; exit 1; }
fi
