#!/bin/bash
# SPDX-License-Identifier: MIT
# lab up makes a mounted filesystem with the disk's timing and the wanted queue; two at once; down leaves nothing.
set -eu
. "$(dirname "$0")/lib.sh"
need_root; need_loop; need_fuse; need_fs ext4; need_fs xfs; need_program mkfs.xfs; need_program jq
scratch; begin
at_end() { "$STALLMARK" lab down --all; }
"$STALLMARK" lab up test-a disk=hdd7200_2009 size=512M fs=ext4 sched=bfq mount=data=ordered+barrier=0 depth=8
"$STALLMARK" lab up test-b disk=usb_stick size=512M fs=xfs sched=kyber
"$STALLMARK" lab list --json >"$scratch/list"
row() { jq -r --arg n "$1" --arg k "$2" '.labs[] | select(.name == $n) | .[$k]' "$scratch/list"; }
a=$(row test-a device) b=$(row test-b device)
qa=/sys/block/${a#/dev/}/queue qb=/sys/block/${b#/dev/}/queue
[ "$a" != "$b" ]
grep -q '\[bfq\]' "$qa/scheduler"
grep -q '\[kyber\]' "$qb/scheduler"
[ "$(cat "$qa/rotational")" = 1 ]
[ "$(cat "$qb/rotational")" = 0 ]
[ "$(cat "$qa/nr_requests")" = 16 ]
[ "$(cat "$qb/write_cache")" = 'write through' ]
m=$(row test-a mount)
grep -E " $m .* ext4 $a .*nobarrier" /proc/self/mountinfo
[ "$(row test-b fs)" = xfs ]
echo hello >"$m/file"
sync -f "$m/file"
[ "$(cat "$m/file")" = hello ]
# ten random reads of a 7200 rpm disk take at least 10 times a quarter of a turn
start=$(date +%s%N)
for i in 1 2 3 4 5 6 7 8 9 10; do dd if="$a" of=/dev/null bs=4k count=1 skip=$((i * 9973)) iflag=direct 2>/dev/null; done
ms=$((($(date +%s%N) - start) / 1000000))
echo "10 random reads took $ms ms"
[ $ms -gt 20 ]
"$STALLMARK" lab status test-a --json | jq -e '.state == "up" and .served > 10'
"$STALLMARK" lab down test-a test-b
[ "$("$STALLMARK" lab list --json | jq '[.labs[] | select(.name | startswith("test-"))] | length')" = 0 ]
