#!/bin/bash
# SPDX-License-Identifier: MIT
# Damaged and strange traces are read as far as they go, and what is wrong is said: a record torn anywhere, foreign bytes in
# the middle and at the start, a payload beyond the end, absurd times, 4,096 CPUs, sectors beyond 2^63, two versions in one
# set, a missing CPU file, an unreadable file, a file that shrinks. What is no trace at all is exit 2.
set -eu
gen=$(dirname "$STALLMARK")/../tests/blk/blkgen
[ -x "$gen" ] || { echo "blkgen is not built"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

json() { # jq expression, arguments of blk
	local want=$1
	shift
	"$STALLMARK" blk --json "$@" > out 2> err
	jq -e "$want" out > /dev/null || { echo "not so: $want ($*)"; cat err; jq -c '.trace, .notes' out; exit 1; }
}
fresh() {
	rm -f t.blktrace.*
	"$gen" "$@"
}
noted() { jq -e --arg s "$1" '[.notes[] | select(contains($s))] | length > 0' out > /dev/null || { echo "no note on $1"; jq .notes out; exit 1; }; }

# cut after every byte of the first records: whole records are counted, the rest is skipped
fresh torn whole
head -c 96 whole.blktrace.0 > t.blktrace.0
for n in $(seq 0 96); do
	head -c "$n" t.blktrace.0 > part
	json ".trace.records == $((n / 48)) and .trace.skipped_bytes == $((n % 48))" part || exit 1
done 2> /dev/null || { echo "a cut trace was not read up to the cut"; exit 1; }
fresh torn-pdu t
json '.trace.records == 1 and .trace.skipped_bytes == 68' t
noted "not trace records"
fresh foreign-middle t
json '.trace.records == 4 and .trace.skipped_bytes == 61' t
noted "61 bytes are not trace records"
fresh foreign-start t
json '.trace.records == 2 and .trace.skipped_bytes == 55' t
fresh absurd t
json '.trace.records == 6 and .trace.seconds < 1' t
noted "30 days"
json '.devices[0].amounts[0].completed == 1' t
fresh cpus4096 t
json '.trace.records == 12288 and .devices[0].latency[0].n > 0 and .processes[0].pid > 0' t
fresh versions-mixed t
json '.trace.records == 4 and .devices[0].amounts[1].completed == 1' t
noted "mixes version 7"
fresh orders-mixed t
json '.trace.records == 4' t
noted "both byte orders"
fresh cgroup t
json '.devices[0].amounts[0].queued == 2 and .devices[0].amounts[0].completed == 1' t
fresh gap t
json '.devices[0].amounts[0].queued == 2' t
noted "t.blktrace.1 is missing"
"$STALLMARK" blk --blkparse t > out 2> /dev/null
! grep -q 'CPU2' out
fresh requests t
mv t.blktrace.0 t.blktrace.5
mkdir t.blktrace.0
json '.trace.records > 1000' t
noted "t.blktrace.0 could not be read"
rmdir t.blktrace.0
fresh backwards t
json '.trace.records == 5' t
noted "time runs back"
fresh wrong-cpu t
json '.trace.records == 1303' t

# lost records are seen in the sequence numbers
fresh requests t events=2000 cpus=1
{ head -c 48000 t.blktrace.0; tail -c +96001 t.blktrace.0; } > u.blktrace.0
json '.trace.lost > 0' u

rc=0
echo "this is no trace" | "$STALLMARK" blk - > out 2> err || rc=$?
[ "$rc" = 2 ] && grep -q "not a block trace" err
rc=0
"$STALLMARK" blk nowhere > out 2> err || rc=$?
[ "$rc" = 2 ] && grep -q "nowhere.blktrace.0" err

# a stream, a dump, a folder and single files say the same
fresh requests t events=5000 cpus=3
"$STALLMARK" blk --json t | jq -c '.devices' > want
cat t.blktrace.* | "$STALLMARK" blk --json - | jq -c '.devices' > got
cmp want got
cat t.blktrace.2 t.blktrace.0 t.blktrace.1 > dump
"$STALLMARK" blk --json dump | jq -c '.devices' > got
cmp want got
rm dump
mkdir d
mv t.blktrace.* d
"$STALLMARK" blk --json d | jq -c '.devices' > got
cmp want got
"$STALLMARK" blk --json d/t.blktrace.1 d/t.blktrace.2 d/t.blktrace.0 | jq -c '.devices' > got
cmp want got

# a stream that never ends: Ctrl-C prints what there is
mkfifo fifo
"$STALLMARK" blk fifo > out 2> err &
pid=$!
exec 9> fifo
cat d/t.blktrace.0 >&9
size=$(stat -c %s d/t.blktrace.0)
until [ "$(awk '/^rchar/ {print $2}' "/proc/$pid/io")" -ge "$size" ]; do kill -0 $pid; done
kill -INT $pid
rc=0
wait $pid || rc=$?
exec 9>&-
[ "$rc" = 130 ]
grep -q "reading was stopped" out
grep -q "^Device 8,0" out
