#!/bin/bash
# SPDX-License-Identifier: MIT
# `stallmark blk record` killed with -9: the next one puts the tracer and the device back before it begins, and its own state
# at its end. What was written until then is a readable trace. SIGTERM ends it with the trace complete.
. "$(dirname "$0")/lib.sh"
set -eu
need_root; need_loop; need_program losetup
scratch
begin
cd "$scratch"
truncate -s 64M img
loop=$(losetup -f --show img)
at_end() { losetup -d "$loop"; }
enabled() { cat "/sys/block/${loop##*/}/trace/enable"; }
tracing() { awk '$3 == "tracefs" {print $2; exit}' /proc/mounts; }
[ "$(enabled)" = 0 ]
"$STALLMARK" blk record "$loop" -o one --time 100s 2> said & pid=$!
wait_for 20 sh -c "[ \"\$(cat /sys/block/${loop##*/}/trace/enable)\" = 1 ] || ! kill -0 $pid" || fail "never began"
kill -0 $pid 2> /dev/null || { cat said; skip "$(tail -1 said)"; }
[ "$(cat "$(tracing)/current_tracer")" = blk ]
dd if=/dev/zero of="$loop" bs=64k count=200 oflag=direct 2> /dev/null
kill -9 $pid
wait $pid 2> /dev/null || true
[ "$(enabled)" = 1 ] || fail "nothing was left to put back"
"$STALLMARK" blk record "$loop" -o two -- dd if=/dev/zero of="$loop" bs=64k count=20 oflag=direct 2> said || { cat said; fail "the next record"; }
[ "$(enabled)" = 0 ] || fail "the device is still traced"
t=$(tracing)
[ -z "$t" ] || [ "$(cat "$t/current_tracer")" = nop ] || fail "the tracer is still active"
[ -z "$t" ] || [ "$(cat "$t/options/bin")" = 0 ] || fail "options/bin is still set"
"$STALLMARK" blk --json two | jq -e '.devices[0].amounts[0].completed >= 20 and .trace.lost == 0' > /dev/null || fail "the second trace"

"$STALLMARK" blk record "$loop" -o three --time 100s 2> said & pid=$!
wait_for 20 sh -c "[ \"\$(cat /sys/block/${loop##*/}/trace/enable)\" = 1 ]" || fail "the third never began"
dd if=/dev/zero of="$loop" bs=64k count=20 oflag=direct 2> /dev/null
kill -TERM $pid
rc=0
wait $pid || rc=$?
[ $rc = 143 ] || fail "exit $rc after SIGTERM"
[ "$(enabled)" = 0 ] || fail "the device is still traced after SIGTERM"
"$STALLMARK" blk --json three | jq -e '.devices[0].amounts[0].completed >= 20' > /dev/null || fail "the third trace"
