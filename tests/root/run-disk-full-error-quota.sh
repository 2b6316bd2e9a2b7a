#!/bin/bash
# SPDX-License-Identifier: MIT
# The disk fills up, its filesystem turns read-only, or a quota is reached in the middle: a partial record with a clear sentence, exit 2, nothing left.
set -eu
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/loop-lib.sh"
need_root; need_loop; need_program python3
at_end() { at_end_loop; }
scratch
begin
scenario() {
	cat >"$scratch/t.scenario" <<EOF
time = 25s
idle = 500ms
load-up = 2s
recovery = no
[probe small-create]
[load write]
size = 20M
EOF
}
scenario
go() { # WORDS command to run when it measures
	words=$1
	shift
	rm -f "$scratch/x.smk"
	: >"$scratch/err"
	"$STALLMARK" run "$scratch/t.scenario" --dir "$mnt" --yes -o "$scratch/x.smk" >"$scratch/out" 2>"$scratch/err" & pid=$!
	wait_for 60 grep -q ^measuring "$scratch/err" || fail "it does not measure: $(cat "$scratch/err")"
	"$@" || true
	rc=0; wait $pid || rc=$?
	tail -3 "$scratch/err"
	[ $rc = 2 ] || fail "exit $rc: $(cat "$scratch/out" "$scratch/err")"
	grep -q "ended early: .*$words" "$scratch/err" || fail "no sentence with '$words': $(cat "$scratch/err")"
	grep -q 'PARTIAL: ' "$scratch/out" || fail "no partial answer"
	[ "$(json "$scratch/x.smk" 'd["run"]["partial"]')" = True ] || fail "the record is not partial"
}
need_fs ext4
mount_loop 300 ext4
go 'No space left on device' sh -c "cat /dev/zero >'$mnt/filler' 2>/dev/null"
rm -f "$mnt/filler"
[ -z "$(find "$mnt" -mindepth 1 -maxdepth 1 ! -name 'lost*')" ] || fail "left behind: $(ls "$mnt")"
# the filesystem meets an error and turns read-only, as it does when its disk fails
mount -o remount,errors=remount-ro "$mnt"
trigger=/sys/fs/ext4/${loop#/dev/}/trigger_fs_error
if [ -w "$trigger" ]; then
	go '\(Input/output error\|Read-only file system\|Structure needs cleaning\)' sh -c "echo 1 >'$trigger'"
else
	echo "(this kernel cannot be told to find an error: not tried)"
fi
at_end_loop
rm -rf "$scratch/disk" "$mnt"
if grep -qw btrfs /proc/filesystems || modprobe btrfs 2>/dev/null && command -v mkfs.btrfs >/dev/null; then
	mount_loop 400 btrfs
	btrfs quota enable "$mnt"
	limit() {
		btrfs qgroup limit 30M "$mnt" 2>/dev/null || btrfs qgroup limit 30M 0/5 "$mnt"
	}
	go '\(Disk quota exceeded\|No space left on device\)' limit
	btrfs qgroup limit none "$mnt"
else
	echo "(no btrfs here: quota not tried)"
fi
