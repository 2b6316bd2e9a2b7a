#!/bin/bash
# SPDX-License-Identifier: MIT
# What the server answered on the wall clock is, request by request and to the nanosecond, what the model says in virtual
# time for the same requests at the same times; the answers were late by what the log says. Mixed reads, writes, flushes.
set -eu
. "$(dirname "$0")/lib.sh"
need_root; need_loop; need_fuse; need_program fio; need_program jq
replay=$(dirname "$STALLMARK")/../tests/law/law-replay
[ -x "$replay" ] || skip "tests/law/law-replay is not built beside $STALLMARK"
scratch; begin
at_end() { "$STALLMARK" lab down --all; }
for disk in hdd7200_2009 usb_stick; do
	"$STALLMARK" lab up test-eq disk=$disk fs=none sched=none size=1G seed=3
	dev=$("$STALLMARK" lab list --json | jq -r '.labs[] | select(.name == "test-eq") | .device')
	fio --name=a --filename="$dev" --rw=randrw --bs=4k --direct=1 --ioengine=libaio --iodepth=8 --fsync=40 \
		--runtime=4 --time_based --minimal >/dev/null
	log=$(find /run /dev/shm -path '*lab-test-eq/log' 2>/dev/null | head -1)
	SOURCE_DIR=$(cd "$(dirname "$0")/../.." && pwd) "$replay" "$log" $disk 1G 3
	"$STALLMARK" lab down test-eq
done
