#!/bin/bash
# SPDX-License-Identifier: MIT
# The server is killed with -9 while mounted and busy: the writer gets errors and does not hang; the next command or
# `clean` detaches everything.
set -eu
. "$(dirname "$0")/lib.sh"
need_root; need_loop; need_fuse; need_fs ext4; need_program jq
scratch; begin
at_end() { "$STALLMARK" lab down --all; }
"$STALLMARK" lab up test-kill disk=hdd7200_2009 size=256M fs=ext4
"$STALLMARK" lab list --json >"$scratch/list"
m=$(jq -r '.labs[] | select(.name == "test-kill") | .mount' "$scratch/list")
pid=
for p in /proc/[0-9]*; do
	[ "$(cat "$p/comm" 2>/dev/null)" = stallmark-lab ] && grep -qsz "STALLMARK_TEST=$scratch" "$p/environ" && pid=${p#/proc/}
done
[ -n "$pid" ]
(rc=0; dd if=/dev/zero of="$m/big" bs=1M count=150 conv=fsync 2>"$scratch/dd" || rc=$?; echo "dd ended $rc" >>"$scratch/dd") &
wait_for 10 test -s "$m/big"
kill -9 "$pid"
wait_for 60 grep -q 'dd ended' "$scratch/dd" || fail "the writer hangs: $(cat "$scratch/dd")"
cat "$scratch/dd"
grep -q 'dd ended 1' "$scratch/dd"
wait
"$STALLMARK" lab list
"$STALLMARK" lab down test-kill
