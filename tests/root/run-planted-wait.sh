#!/bin/bash
# SPDX-License-Identifier: MIT
# A filesystem frozen for 3 s makes waits of 3 s: as the worst wait, within 1 % + 5 ms, in the right second; the open
# loop of 20/s has 60 late answers and the stuck share of the closed form. The probes get real-time priority, so that a
# busy machine does not disturb them, and do nothing that needs another task's help. Void when they were starved all the same.
set -eu
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/loop-lib.sh"
need_root; need_loop; need_fs ext4; need_program fsfreeze; need_program python3; need_program chrt
at_end() { at_end_loop; }
scratch
begin
mount_loop 300 ext4
cat >"$scratch/t.scenario" <<EOF
time = 20s
[probe keystroke]
rate = 20/s
[probe keystroke:fast]
rate = 200/s
[probe tick]
EOF
for _ in 1 2 3; do
	rm -f "$scratch"/err "$scratch"/x.smk
	chrt -f 20 "$STALLMARK" run "$scratch/t.scenario" --dir "$mnt" --yes --no-idle -o "$scratch/x.smk" >"$scratch/out" 2>"$scratch/err" & pid=$!
	wait_for 30 grep -q ^measuring "$scratch/err" || fail "it does not measure: $(cat "$scratch/err")"
	chrt -f 30 python3 - "$mnt" "$scratch/planted" <<'EOF'
import fcntl, os, sys, time
fd = os.open(sys.argv[1], os.O_RDONLY)
time.sleep(2)
a0 = time.monotonic_ns()
fcntl.ioctl(fd, 0xC0045877, 0)		# FIFREEZE: writers stop somewhere inside this call, which also syncs
a1 = time.monotonic_ns()
while time.monotonic_ns() < a0 + 2_999_000_000: time.sleep(0.0005)
b0 = time.monotonic_ns()
fcntl.ioctl(fd, 0xC0045878, 0)		# FITHAW
open(sys.argv[2], "w").write(f"{a0} {a1} {b0} {time.monotonic_ns()}")
EOF
	wait $pid
	"$STALLMARK" show --json "$scratch/x.smk" >"$scratch/json"
	python3 - "$scratch/json" "$scratch/planted" <<'EOF' && exit 0
import json, sqlite3, sys
d = json.load(open(sys.argv[1])); p = {x["name"]: x for x in d["probes"]}
a0, a1, b0, b1 = map(int, open(sys.argv[2]).read().split())
least, most = (b0 - a1) / 1e9, (b1 - a0) / 1e9
freeze = (least + most) / 2
late = p["tick"]["worst"]["seconds"]
w, T, n = 0.1, d["run"]["each"][0]["measured"], p["keystroke"]["n"]
stuck = p["keystroke"]["stuck"]
print(f"frozen {least:.4f} to {most:.4f} s, tick late by {late * 1e3:.1f} ms at worst")
fast = p["keystroke@fast"]
print(f"worst: 200/s {fast['worst']}, 20/s {p['keystroke']['worst']}; stuck {stuck:.5f}, closed form "
      f"{(freeze - w) / T:.5f}, n {n}")
if late > 0.005 or most - least > 0.03:
    print("void: the machine was starved"); sys.exit(1)
for x, interval in ((fast, 0.005), (p["keystroke"], 0.05)):
    # the first tick of the freeze was due up to one interval after its begin
    assert least * 0.99 - 0.005 - interval <= x["worst"]["seconds"] <= most * 1.01 + 0.005, x["worst"]
late_ones = round(stuck * n)
assert abs(late_ones - (freeze - w) * 20) <= 1.5, f"{late_ones} ticks over {w} s"
assert abs(stuck - (freeze - w) / T) <= 0.02 * (freeze - w) / T + 0.5 / n, "not the closed form"
assert d["worst"]["probe"] in ("keystroke@fast", "keystroke")
EOF
done
skip "three void attempts: the machine is too busy to time anything"
