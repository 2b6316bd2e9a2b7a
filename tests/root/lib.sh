# SPDX-License-Identifier: MIT
# Sourced by the tests in tests/root: what they need, and the proof that nothing of ours is left.
#
#	. "$(dirname "$0")/lib.sh"
#	need_root; need_loop; need_fs ext4
#	scratch				# sets $scratch (ext4), removed at the end
#	begin				# snapshot; at the end of the script the same again, and compare
#	...
#	exit 0
#
# A skip prints its reason and exits 77.

skip() {
	echo "skipped: $*"
	exit 77
}

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

need_root() { [ "$(id -u)" = 0 ] || skip "needs root"; }
need_program() { command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] || skip "needs $1"; }
need_fuse() { [ -c /dev/fuse ] || skip "needs /dev/fuse"; }
need_loop() { [ -c /dev/loop-control ] || skip "needs loop devices"; }
need_fs() { grep -qw "$1" /proc/filesystems || modprobe "$1" 2>/dev/null || skip "this kernel has no $1"; }

# wait_for SECONDS command...: until it succeeds; no fixed sleeps
wait_for() {
	wf_end=$(($(date +%s) + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt "$wf_end" ] || return 1
		sleep 0.05
	done
}

# Everything outside our own files that a run could leave behind or change. Loop devices that serve someone else's
# file are left out, so other users of the machine do not disturb the comparison.
snapshot() {
	find /proc/sys/vm -type f -readable ! -name compact_memory ! -name drop_caches ! -name stat_refresh \
		-exec grep -sH . {} + | sort
	for q in /sys/block/*/queue; do
		d=${q%/queue} b=
		{ read -r b <"$d/loop/backing_file"; } 2>/dev/null || true
		case ${d##*/}=$b in loop*=) continue ;; esac	# what its last user left in an empty loop device is no setting
		case $b in '') ;; *stallmark* | "${scratch:-/nowhere}"*) echo "loop ${d##*/} $b" ;; *) continue ;; esac
		# the kernel sets these anew whenever a file is attached to a loop device
		case $d in
		*/loop*) grep -rsH --exclude='discard_*' --exclude=rotational --exclude='write_zeroes*' . "$q" ;;
		*) grep -rsH . "$q" ;;
		esac
	done | sort
	grep -E "stallmark|${scratch:-/nowhere}" /proc/self/mountinfo | sed 's/^/mount /' || true
	find /sys/fs/fuse/connections -mindepth 1 -maxdepth 1 2>/dev/null | sort | sed 's/^/fuse /'
	find /sys/fs/cgroup -type d -name '*stallmark*' 2>/dev/null | sort | sed 's/^/cgroup /'
	find /sys/kernel/tracing/instances /sys/kernel/debug/tracing/instances -maxdepth 1 -name '*stallmark*' 2>/dev/null | sort
	for c in $(grep -sl '^stallmark' /proc/[0-9]*/comm); do	# ours only: they inherit the mark
		grep -qsz "STALLMARK_TEST=${scratch:-/nowhere}" "${c%comm}environ" && echo "process ${c%/comm}"
	done
	true
}

# A device that somebody else attached or detached meanwhile is not ours to judge: only lines of devices in both count.
same_world() {
	awk '
	function dev(l) { return l ~ /^\/sys\/block\// ? substr(l, 12, index(substr(l, 12), "/") - 1) : "" }
	NR == FNR { a[$0] = 1; if (dev($0) != "") da[dev($0)] = 1; next }
	{ b[$0] = 1; if (dev($0) != "") db[dev($0)] = 1 }
	END {
		bad = 0
		for (l in a) if (!(l in b) && (dev(l) == "" || (dev(l) in db))) { print "- " l; bad = 1 }
		for (l in b) if (!(l in a) && (dev(l) == "" || (dev(l) in da))) { print "+ " l; bad = 1 }
		exit bad
	}' "$1" "$2"
}

scratch() {
	scratch=$(mktemp -d "${1:-/var/tmp}/stallmark-test.XXXXXX")
	STALLMARK_TEST=$scratch
	export STALLMARK_TEST
}

# From here to the end of the script the world must stay the same. Cleans up with $STALLMARK clean first.
begin() {
	before=$(mktemp) after=$(mktemp)
	snapshot >"$before"
	trap finish EXIT
	trap 'exit 130' INT TERM
}

finish() {
	status=$?
	trap - EXIT
	if command -v at_end >/dev/null 2>&1; then at_end || true; fi
	[ -z "${STALLMARK:-}" ] || "$STALLMARK" clean --yes >/dev/null 2>&1 || true
	snapshot >"$after"
	if ! same_world "$before" "$after"; then
		echo "FAILED: the lines above differ from before the test (- before, + after)" >&2
		[ $status -ne 0 ] && [ $status -ne 77 ] || status=1
	fi
	rm -rf "$before" "$after"
	[ -z "${scratch:-}" ] || rm -rf "$scratch"
	exit $status
}
