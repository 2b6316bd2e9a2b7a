#!/bin/bash
# SPDX-License-Identifier: MIT
# A queue attribute that ab sets holds while its run lasts and is back afterwards: at the end, after Ctrl-C, and after kill -9
# by the next command.
set -eu
# shellcheck source=tests/root/lib.sh
. "$(dirname "$0")/lib.sh"
need_root
dir=$(mktemp -d /var/tmp/stallmark-ab.XXXXXX)
pid=
trap 'kill "$pid" 2>/dev/null || true; rm -rf "$dir"' EXIT
source=$(df --output=source "$dir" | tail -1)
disk=$(lsblk -ndo PKNAME "$source" 2>/dev/null || true)
[ -n "$disk" ] || disk=$(basename "$(readlink -f "$source")")
attr=/sys/block/$disk/queue/read_ahead_kb
[ -w "$attr" ] || skip "no queue attribute of the disk under /var/tmp can be written ($attr)"
before=$(cat "$attr")
other=$((before == 64 ? 128 : 64))
mkdir "$dir/work"
printf 'time = 2s\nidle = 1s\nload-up = 2s\nrecovery-max = 1s\n[probe fsync]\npause = 10ms\n[load write]\nn = 1\nsize = 4M\n' >"$dir/t.scenario"
cd "$dir"
is() { [ "$(cat "$attr")" = "$1" ]; }
ab() { "$STALLMARK" ab ./t.scenario --dir work --yes --quiet --a queue.read_ahead_kb=$other --b '' --rounds 1 -o "$1" >out 2>err </dev/null; }

ab whole || fail "ab: $(cat err)"
is "$before" || fail "after the end it is $(cat "$attr"), not $before"
"$STALLMARK" compare whole/a-001.smk whole/b-001.smk | grep -q "read_ahead_kb *$other *$before" || fail "the records do not tell the difference"

"$STALLMARK" ab ./t.scenario --dir work --yes --quiet --a queue.read_ahead_kb=$other --b '' --rounds 1 -o intr >out 2>err </dev/null &
pid=$!
wait_for 60 is "$other" || fail "it was never set"
kill -INT $pid
wait $pid && fail "exit 0 after SIGINT"
is "$before" || fail "after Ctrl-C it is $(cat "$attr"), not $before"

"$STALLMARK" ab ./t.scenario --dir work --yes --quiet --a queue.read_ahead_kb=$other --b '' --rounds 1 -o killed >out 2>err </dev/null &
pid=$!
wait_for 60 is "$other" || fail "it was never set the second time"
child=$(pgrep -P $pid || true)
kill -KILL $pid
wait $pid 2>/dev/null || true
[ -z "$child" ] || { kill -INT "$child" 2>/dev/null; wait_for 60 sh -c "! kill -0 $child" || fail "the run of the killed ab does not end"; }
"$STALLMARK" ab --resume killed --yes --quiet >out 2>err </dev/null || fail "resume: $(cat err)"
is "$before" || fail "after kill -9 and the next command it is $(cat "$attr"), not $before"
