#!/bin/bash
# SPDX-License-Identifier: MIT
# The memory behind a lab is used up: the writer sees an error at fsync or the filesystem turns read-only, the server
# lives, says so, serves reads, and the lab can be taken down. The same when it is poked with `full`.
set -eu
. "$(dirname "$0")/lib.sh"
need_root; need_loop; need_fuse; need_fs ext4; need_program jq
scratch; begin
at_end() { "$STALLMARK" lab down --all; }
"$STALLMARK" lab up test-full disk=null fs=ext4 size=512M store=64M
m=$("$STALLMARK" lab list --json | jq -r '.labs[] | select(.name == "test-full") | .mount')
rc=0
dd if=/dev/urandom of="$m/big" bs=1M count=200 conv=fsync 2>"$scratch/dd" || rc=$?
cat "$scratch/dd"
[ $rc -ne 0 ] || fail "200 MiB fit into 64 MiB"
"$STALLMARK" lab status test-full --json >"$scratch/status"
jq -c . "$scratch/status"
jq -e '.state == "up" and .refused_full > 0 and .stored <= 67108864' "$scratch/status"
dd if="$m/big" of=/dev/null bs=1M count=1 2>/dev/null || echo "(the file cannot be read, which is allowed)"
"$STALLMARK" lab down test-full
"$STALLMARK" lab up test-full disk=null fs=none sched=none size=64M
dev=$("$STALLMARK" lab list --json | jq -r '.labs[] | select(.name == "test-full") | .device')
dd if=/dev/urandom of="$dev" bs=64k count=1 oflag=direct 2>/dev/null
"$STALLMARK" lab poke test-full full
wait_for 5 sh -c '! dd if=/dev/urandom of='"$dev"' bs=64k count=1 seek=5 oflag=direct 2>/dev/null'
dd if="$dev" of=/dev/null bs=64k count=1 iflag=direct 2>/dev/null
"$STALLMARK" lab poke test-full full=no
wait_for 5 dd if=/dev/urandom of="$dev" bs=64k count=1 seek=6 oflag=direct
"$STALLMARK" lab poke test-full error=read at=8
wait_for 5 sh -c '! dd if='"$dev"' of=/dev/null bs=4k count=1 skip=1 iflag=direct 2>/dev/null'
dd if="$dev" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null
