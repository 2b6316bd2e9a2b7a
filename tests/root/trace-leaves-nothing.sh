#!/bin/bash
# SPDX-License-Identifier: MIT
# Tracing leaves no BPF program behind: neither after a normal end, nor after kill -9, nor with two tracers at once.
set -eu
if ! [ -r /sys/kernel/btf/vmlinux ] || [ "$(id -u)" != 0 ]; then echo "needs root and BTF"; exit 77; fi
dir=$(mktemp -d /dev/shm/trace-leaves.XXXXXX)
trap 'kill -9 $(jobs -p) 2>/dev/null || true; rm -rf "$dir"' EXIT
count() { # programs of the process with this pid
	find "/proc/$1/fd" -lname 'anon_inode:bpf-prog' 2>/dev/null | wc -l
}
"$STALLMARK" trace -q --threshold 20ms -o "$dir/a.smk" --time 30s 2>"$dir/a.err" & one=$!
"$STALLMARK" trace -q --threshold 20ms -o "$dir/b.smk" --time 30s 2>"$dir/b.err" & two=$!
for _ in $(seq 100); do
	{ [ "$(count $one)" -gt 10 ] && [ "$(count $two)" -gt 10 ]; } && break
	kill -0 $one $two || { cat "$dir"/*.err; grep -q 'BPF\|tracing' "$dir"/*.err && exit 77; exit 1; }
	sleep 0.1
done
[ "$(count $one)" -gt 10 ] && [ "$(count $two)" -gt 10 ]
before=$(ls /sys/fs/bpf 2>/dev/null | wc -l)
kill -9 $one
wait $one 2>/dev/null || true
kill -INT $two
rc=0; wait $two || rc=$?
[ "$rc" = 130 ]
[ -s "$dir/b.smk" ]
[ "$(ls /sys/fs/bpf 2>/dev/null | wc -l)" = "$before" ]
# no program is held by anybody but living processes: both are gone, so are their programs
for p in $one $two; do [ ! -e "/proc/$p" ]; done
left=/run/stallmark
[ ! -e "$left/trace-$two-1.smk" ]
rm -f "$left/trace-$one-"*.smk*	# what kill -9 left in tmpfs is ours to remove (stallmark recover reads it)
