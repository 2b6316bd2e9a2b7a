#!/bin/bash
# SPDX-License-Identifier: MIT
# While a filesystem is frozen, the pictures of the stuck probe show a task in D state in a write system call, with a kernel
# stack, again and again with growing waits; and the counters follow the loop device and the disk under it.
set -eu
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/loop-lib.sh"
need_root; need_loop; need_fs ext4; need_program fsfreeze; need_program sqlite3
at_end() { at_end_loop; }
scratch
begin
mount_loop 200 ext4
printf 'time = 6s\nstacks = 250ms\n[probe keystroke]\n' >"$scratch/t.scenario"
"$STALLMARK" run "$scratch/t.scenario" --dir "$mnt" --yes --no-idle -o "$scratch/x.smk" >"$scratch/out" 2>"$scratch/err" & pid=$!
wait_for 60 grep -q ^measuring "$scratch/err" || fail "it does not measure: $(cat "$scratch/err")"
fsfreeze -f "$mnt"
sleep 3		# the freeze itself
fsfreeze -u "$mnt"
wait $pid || fail "the run failed: $(cat "$scratch/err")"
ask() { sqlite3 "$scratch/x.smk" "$1"; }
n=$(ask "SELECT count(*) FROM stall JOIN series ON series.id = stall.series WHERE name = 'keystroke'")
[ "$n" -ge 2 ] || fail "only $n pictures of a wait of 3 s"
[ "$n" -le 8 ] || fail "$n pictures of a wait of 3 s"
[ "$(ask "SELECT min(waited) >= 250000000 AND max(waited) > 900000000 FROM stall WHERE series > 0")" = 1 ] || fail "$(ask "SELECT waited FROM stall")"
[ "$(ask "SELECT count(*) FROM stall WHERE series > 0 AND state = 'D' AND (syscall LIKE '%write%' OR syscall = 'openat')")" -ge 2 ] ||
	fail "not in D state in a write: $(ask "SELECT state, syscall, wchan FROM stall WHERE series > 0")"
if "$STALLMARK" doctor | grep -q '^  stacks *works'; then
	ask "SELECT frames FROM stall JOIN stack ON stack.id = stall.stack WHERE series > 0" | grep -q 'vfs_write\|ksys_\|percpu' ||
		fail "no kernel stack: $(ask "SELECT frames FROM stack")"
fi
dev=${loop#/dev/}
under=$(lsblk -ndo NAME "$(findmnt -no SOURCE -T "$scratch")" 2>/dev/null || true)
for d in $dev $under; do
	[ "$(ask "SELECT sum(n) > 4 FROM counters c JOIN series s ON s.id = c.series WHERE s.name = 'disk.$d.inflight'")" = 1 ] ||
		fail "no counters of $d"
done
[ "$(ask "SELECT value FROM env WHERE key = 'dev.name'")" = "$dev" ] || fail "the device is $(ask "SELECT value FROM env WHERE key = 'dev.name'")"
