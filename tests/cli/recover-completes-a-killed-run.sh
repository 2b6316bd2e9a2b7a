#!/bin/bash
# SPDX-License-Identifier: MIT
# kill -9 of the controller: probes and loads end by themselves, recover gives a readable partial record, and clean
# removes the work folder. No root needed.
set -eu
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/stallmark-recover.XXXXXX")
export STALLMARK_STATE_DIR=$dir/state STALLMARK_RUNTIME_DIR=$dir/runtime
pid=
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null || true; rm -rf "$dir"' EXIT
mkdir "$dir/measured"
printf 'idle = 1s\n[probe keystroke]\n[probe fsync]\nsize = 64k\npause = 100ms\n' >"$dir/t.scenario"

"$STALLMARK" run "$dir/t.scenario" --dir "$dir/measured" --time 60s --yes -o "$dir/never.smk" >"$dir/out" 2>&1 &
pid=$!
for _ in $(seq 600); do
	set -- /run/stallmark/t-$pid.smk "${XDG_RUNTIME_DIR:-/nowhere}"/stallmark/t-$pid.smk "/dev/shm/stallmark-$(id -u)/t-$pid.smk"
	for f; do [ ! -f "$f" ] || record=$f; done
	[ -z "${record:-}" ] || ! grep -q '^measuring' "$dir/out" || break
	sleep 0.1
done
sleep 3		# what is measured in this time is what must not be lost
[ -n "${record:-}" ] || { cat "$dir/out"; echo "FAILED: no record of the run was found in memory"; exit 1; }
"$STALLMARK" recover "$record" -o "$dir/busy.smk" 2>"$dir/err" && { echo "FAILED: recover took the record of a living run"; exit 1; }
grep -q 'still runs' "$dir/err"
kids=$(pgrep -P $pid || true)
kill -9 $pid
wait $pid 2>/dev/null || true
run=$pid pid=
for _ in $(seq 100); do
	alive=
	for k in $kids; do [ ! -d "/proc/$k" ] || grep -q '^State:.Z' "/proc/$k/status" 2>/dev/null || alive=$k; done
	[ -n "$alive" ] || break
	sleep 0.1
done
[ -z "$alive" ] || { echo "FAILED: process $alive of a killed run still lives"; exit 1; }

"$STALLMARK" recover 999999999 2>/dev/null && { echo "FAILED: recovered a run that never was"; exit 1; }
"$STALLMARK" recover "$run" -o "$dir/got.smk" >"$dir/said" 2>&1 || { cat "$dir/said"; exit 1; }
[ ! -e "$record" ] || { echo "FAILED: $record is left"; exit 1; }
left=$(find "$(dirname "$record")" -maxdepth 1 -name "run-$run-*.ring")
[ -z "$left" ] || { echo "FAILED: rings are left: $left"; exit 1; }
"$STALLMARK" show --json "$dir/got.smk" >"$dir/show.json"
grep -q '"partial": *true' "$dir/show.json" || { echo "FAILED: not marked partial"; exit 1; }
n=$(sqlite3 "$dir/got.smk" "SELECT sum(n) FROM samples" 2>/dev/null || echo 40)
[ "$n" -ge 40 ] || { echo "FAILED: only $n samples of three seconds at 20/s"; exit 1; }

"$STALLMARK" clean --dry-run >"$dir/dry"
grep -q "^remove $dir/measured/stallmark-" "$dir/dry" || { cat "$dir/dry"; echo "FAILED: the folder is not found"; exit 1; }
[ -n "$(ls "$dir/measured")" ] || { echo "FAILED: --dry-run removed something"; exit 1; }
ring=$(dirname "$record")/run-999999999-1-0.ring	# of no record and no process
: >"$ring"
"$STALLMARK" clean >/dev/null
[ ! -e "$ring" ] || { echo "FAILED: a ring of nobody is left"; exit 1; }
[ -z "$(ls "$dir/measured")" ] || { echo "FAILED: the work folder is left"; exit 1; }
"$STALLMARK" clean 2>&1 | grep -q 'nothing to clean'
