# SPDX-License-Identifier: MIT
# Sourced by the run-*.sh tests here: a scratch directory on a disk, a small scenario, and what must be gone at the end.
scratch=$(mktemp -d /var/tmp/stallmark-run.XXXXXX)
export XDG_STATE_HOME="$scratch/state" STALLMARK_TEST="$scratch"
mkdir "$scratch/dir"
cleanup() { rm -rf "$scratch"; }
trap cleanup EXIT

skip() { echo "skipped: $*"; exit 77; }
fail() { echo "FAILED: $*" >&2; [ ! -s "$scratch/err" ] || sed 's/^/  stderr: /' "$scratch/err" >&2; exit 1; }

# wait_for SECONDS command...: until it succeeds
wait_for() {
	wf_end=$(($(date +%s) + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt "$wf_end" ] || return 1
		sleep 0.05
	done
}

scenario() { cat >"$scratch/t.scenario"; }
small() { # a probe and a load that begin at once
	scenario <<EOF
time = ${1:-1s}
idle = 300ms
load-up = 2s
recovery = no
[probe fsync]
size = 64k
pause = 20ms
[probe tick]
[load write]
size = 16M
EOF
}
run() { "$STALLMARK" run "$scratch/t.scenario" --dir "$scratch/dir" --yes -o "$scratch/x.smk" "$@"; }
# In the background, without a shell between: sets $pid.
start() {
	"$STALLMARK" run "$scratch/t.scenario" --dir "$scratch/dir" --yes -o "$scratch/x.smk" "$@" >"$scratch/out" 2>"$scratch/err" &
	pid=$!
}
# json 'python expression over d (the document) and p (probes by name)'
json() { "$STALLMARK" show --json "${2:-$scratch/x.smk}" | python3 -c "import json,sys; d=json.load(sys.stdin); p={x['name']:x for x in d['probes']}; print($1)"; }
nothing_left() {
	[ -z "$(ls -A "$scratch/dir")" ] || fail "left behind: $(ls -A "$scratch/dir")"
	for c in $(grep -sl '^stallmark' /proc/[0-9]*/comm); do
		if grep -qsz "STALLMARK_TEST=$scratch" "${c%comm}environ"; then fail "process ${c%/comm} is left: $(cat "$c" 2>/dev/null)"; fi
	done
}
