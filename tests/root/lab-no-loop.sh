#!/bin/bash
# SPDX-License-Identifier: MIT
# No loop device to be had: exit 2 with a sentence, nothing left; labs that are up go on.
set -eu
. "$(dirname "$0")/lib.sh"
need_root; need_loop; need_fuse; need_program jq
scratch; begin
at_end() { "$STALLMARK" lab down --all; }
"$STALLMARK" lab up test-one fs=none sched=none size=64M disk=null
rc=0
unshare -m sh -c 'mount --bind /dev/null /dev/loop-control; exec "$@"' sh "$STALLMARK" lab up test-two fs=none size=64M >"$scratch/out" 2>&1 || rc=$?
cat "$scratch/out"
[ $rc -eq 2 ] || fail "exit $rc"
grep -q 'loop' "$scratch/out"
"$STALLMARK" lab status test-one --json | jq -e '.state == "up"'
dev=$("$STALLMARK" lab list --json | jq -r '.labs[] | select(.name == "test-one") | .device')
dd if="$dev" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null
