#!/bin/sh
# SPDX-License-Identifier: MIT
# A directory on tmpfs works, and it is said what cannot be measured there.
set -eu
. "$(dirname "$0")/run-lib.sh"
[ "$(stat -f -c %T /dev/shm)" = tmpfs ] || skip "/dev/shm is no tmpfs"
dir=$(mktemp -d /dev/shm/stallmark-run.XXXXXX)
cleanup() { rm -rf "$scratch" "$dir"; }
small
"$STALLMARK" run "$scratch/t.scenario" --dir "$dir" --yes -o "$scratch/x.smk" >"$scratch/out" 2>"$scratch/err" || fail "exit $?"
for f in out err; do
	tr -s ' \n' '  ' <"$scratch/$f" | grep -q 'lives in memory: nothing reaches a disk' || fail "$f does not say it: $(cat "$scratch/$f")"
done
[ -z "$(ls -A "$dir")" ] || fail "left behind: $(ls -A "$dir")"
