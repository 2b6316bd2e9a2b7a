#!/bin/bash
# SPDX-License-Identifier: MIT
# `stallmark blk record` on loop devices with ext4, xfs and raw I/O: blkparse reads the files, our end summary (with and without
# -s) and btt's tables are theirs to the byte, processes have names, every bio is accounted for, and the tracer is as before.
. "$(dirname "$0")/lib.sh"
set -eu
need_root; need_loop; need_program blkparse; need_program btt; need_program losetup
scratch
begin
cd "$scratch"
loop=
at_end() {
	mountpoint -q "$scratch/m" && umount "$scratch/m"
	[ -z "$loop" ] || losetup -d "$loop"
}

tracer() {
	t=$(awk '$3 == "tracefs" {print $2; exit}' /proc/mounts)
	[ -z "$t" ] || cat "$t/current_tracer" "$t/options/bin" "$t/options/context-info" "$t/trace_clock" "$t/tracing_on"
}
tracer > tracer.before

check() { # name
	for s in "" -s; do
		# shellcheck disable=SC2086
		blkparse -i "$1" -f "" $s -o ref > /dev/null 2>&1
		# shellcheck disable=SC2086
		"$STALLMARK" blk --blkparse $s "$1" > got 2> notes
		cmp ref got || { diff ref got | head; fail "$1: the summary $s is not blkparse's"; }
	done
	blkparse -i "$1" -O -d dump > /dev/null 2>&1
	btt -i dump 2> /dev/null | sed -n '/^=* All Devices/,/^# Total System/p' | sed '$d' > ref
	"$STALLMARK" blk --btt "$1" > got 2> notes
	cmp ref got || { diff ref got | head; fail "$1: the tables are not btt's"; }
	"$STALLMARK" blk --json "$1" > json
	jq -e '.trace.lost == 0 and .trace.skipped_bytes == 0 and (.devices | length) == 1' json > /dev/null || fail "$1: records were lost"
	jq -e '.devices[0].accounts | .neither == 0 and .completed_unknown == 0 and .queued > 20' json > /dev/null ||
		{ jq -c '.devices[0].accounts' json; fail "$1: not every bio is accounted for"; }
}

for kind in ext4 xfs raw; do
	[ $kind = raw ] || { command -v mkfs.$kind > /dev/null && grep -qw $kind /proc/filesystems; } || { echo "no $kind here"; continue; }
	truncate -s 400M img
	loop=$(losetup -f --show img)
	mkdir -p m
	if [ $kind = raw ]; then
		what="dd if=$loop of=/dev/null bs=64k count=64 iflag=direct; dd if=/dev/zero of=$loop bs=4k count=100 oflag=direct; dd if=/dev/zero of=$loop bs=1M count=8 conv=fsync"
	else
		"mkfs.$kind" -q "$loop"
		mount "$loop" m
		what="dd if=/dev/zero of=m/a bs=1M count=30 conv=fsync; dd if=/dev/zero of=m/b bs=4k count=30 oflag=dsync; rm m/a; sync; cat m/b > /dev/null"
	fi
	rc=0
	"$STALLMARK" blk record "$loop" -o $kind -- sh -c "$what" 2> said || rc=$?
	[ $rc = 0 ] || { cat said; grep -q 'tracefs\|blk tracer\|is active' said && skip "$(tail -1 said)"; fail "record: exit $rc"; }
	mountpoint -q m && umount m
	losetup -d "$loop"
	loop=
	rm img
	check $kind
	jq -e '[.processes[].process] | index("dd") != null and index("(no name)") == null' json > /dev/null ||
		{ jq -c '.processes' json; fail "$kind: processes without names"; }
done
tracer > tracer.after
cmp tracer.before tracer.after || fail "the tracer is not as it was"

# the files are not overwritten, and a device that is none is refused
rc=0
"$STALLMARK" blk record /dev/null -o ext4 2> said || rc=$?
[ $rc = 2 ] && grep -q 'not a block device' said || fail "recording a character device"
