#!/bin/bash
# SPDX-License-Identifier: MIT
# What cannot be had is exit 2 with a sentence, and leaves nothing: scheduler, filesystem, profile, memory, mkfs and mount
# that fail, a name that is taken, machine-wide settings without consent, a missing mkfs, no root, no /dev/fuse.
set -eu
. "$(dirname "$0")/lib.sh"
need_root; need_loop; need_fuse; need_fs ext4
scratch; begin
at_end() { "$STALLMARK" lab down --all; }
refuse() { # pattern, arguments...
	local rc=0 want=$1
	shift
	"$STALLMARK" lab up test-no size=256M "$@" >"$scratch/out" 2>&1 || rc=$?
	cat "$scratch/out"
	[ $rc -eq 2 ] || fail "exit $rc: $*"
	grep -q -- "$want" "$scratch/out" || fail "no '$want' for: $*"
}
refuse 'no I/O scheduler' sched=cfq
refuse "no filesystem 'ext5' here; did you mean" fs=ext5
refuse "did you mean 'hdd7200_2009'" disk=hdd7200_2008
refuse "did you mean 'sched'" shed=bfq
refuse 'half of the memory' size=4T store=4T fs=none
refuse 'yes-system' dirty_bytes=16M
refuse 'failed' mkfs=-Q
refuse 'failed' mount=nosuchoption
printf 'model = hdd\n\nrpm = many # x\n' >"$scratch/bad.profile"
refuse 'bad.profile:3' disk="$scratch/bad.profile"
"$STALLMARK" lab up test-no fs=none size=64M sched=none
refuse 'is up already' fs=none
"$STALLMARK" lab down test-no
# in a view of the machine where mkfs.xfs does not exist
rc=0
unshare -m sh -c 'for f in /sbin/mkfs.xfs /usr/sbin/mkfs.xfs; do [ ! -e $f ] || mount --bind /dev/null $f; done; exec "$@"' sh \
	"$STALLMARK" lab up test-no fs=xfs size=512M >"$scratch/out" 2>&1 || rc=$?
cat "$scratch/out"
[ $rc -eq 2 ]
grep -q 'apt install xfsprogs' "$scratch/out"
# without root, and without the device
rc=0
setpriv --reuid=65534 --clear-groups "$STALLMARK" lab up test-no 2>"$scratch/out" || rc=$?
[ $rc -eq 2 ] || fail "without root: exit $rc"
grep -q root "$scratch/out"
rc=0
unshare -m sh -c 'mount --bind /dev/null /dev/fuse && mount -o remount,bind,ro /dev/fuse; exec "$@"' sh "$STALLMARK" lab up test-no fs=none >"$scratch/out" 2>&1 || rc=$?
cat "$scratch/out"
[ $rc -eq 2 ] || fail "without /dev/fuse: exit $rc"
