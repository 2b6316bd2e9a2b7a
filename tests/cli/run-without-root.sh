#!/bin/sh
# SPDX-License-Identifier: MIT
# Without root everything but the root-only facts works.
set -eu
. "$(dirname "$0")/run-lib.sh"
small
chmod 755 "$scratch"
if [ "$(id -u)" = 0 ]; then
	command -v setpriv >/dev/null || skip "needs setpriv"
	cp "$STALLMARK" "$scratch/stallmark"
	chmod 755 "$scratch/stallmark"
	mkdir -p "$scratch/state" "$scratch/run"
	mount -t tmpfs none "$scratch/run" 2>/dev/null || skip "cannot mount a tmpfs for its record"
	cleanup() { umount "$scratch/run" || true; rm -rf "$scratch"; }
	chown -R 65534:65534 "$scratch/dir" "$scratch/state" "$scratch/run"
	chmod 700 "$scratch/run"
	as="setpriv --reuid 65534 --regid 65534 --clear-groups env XDG_STATE_HOME=$scratch/state XDG_RUNTIME_DIR=$scratch/run"
	STALLMARK=$scratch/stallmark
else
	as=
fi
rc=0; $as "$STALLMARK" run "$scratch/t.scenario" --dir "$scratch/dir" --yes -o "$scratch/dir/x.smk" >"$scratch/out" 2>"$scratch/err" || rc=$?
[ $rc = 0 ] || fail "exit code $rc"
grep -q 'Worst wait' "$scratch/out" || fail "no answer: $(cat "$scratch/out")"
[ "$(json 'd["run"]["partial"]' "$scratch/dir/x.smk")" = False ]
rm "$scratch/dir/x.smk"
nothing_left
