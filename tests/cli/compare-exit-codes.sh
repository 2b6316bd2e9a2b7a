#!/bin/bash
# SPDX-License-Identifier: MIT
# compare exits 0 also on UNCLEAR and WORSE; 1 when --fail-if holds; 2 on mistakes, also a misspelt metric; 3 undecided with
# --strict; for git bisect 0, 1 and 125. Gate results tell "ok" with the value.
set -eu
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
data=$(dirname "$0")/../data/2010-07-cfq-fsync
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
good=$data/ext3-barrier_patched.fsync-tester.log bad=$data/ext3-barrier_vanilla.fsync-tester.log

code() { # expected, arguments...
	local want=$1 got=0
	shift
	"$STALLMARK" compare "$@" >"$dir/out" 2>"$dir/err" || got=$?
	[ $got -eq "$want" ] || { echo "exit $got instead of $want: compare $*"; cat "$dir/out" "$dir/err"; exit 1; }
}

code 0 "$good" "$bad"
code 1 "$good" "$bad" --fail-if worse
code 0 "$bad" "$good" --fail-if worse
code 1 "$good" "$bad" --fail-if 'fsync.stuck > 5%'
code 0 "$good" "$bad" --fail-if 'fsync.stuck > 90%' --fail-if 'fsync.n < 25'
code 1 "$good" "$bad" --fail-if 'fsync.worst >= 5.8s' --json
jq -e '.gates[0] | .ok == false and .name == "fsync.worst" and .value.seconds == 5.839 and .limit == ">= 5.8s"' "$dir/out" >/dev/null
code 2 "$good" "$bad" --fail-if 'fsync.stuk > 5%'
grep -q "did you mean 'stuck'" "$dir/err"
code 2 "$good" "$bad" --fail-if 'fsnc.stuck > 5%'
code 2 "$good" "$bad" --fail-if 'fsync.stuck > 5ms'
code 2 "$good" "$bad" --margin 0
code 2 "$good" "$bad" --alpha 2
code 2 "$good" /nowhere
code 2 "$good"
code 2 "$good" "$bad" --format nonsense
code 0 "$data/xfs_vanilla.fsync-tester.log" "$data/xfs_patched.fsync-tester.log"
code 3 "$data/xfs_vanilla.fsync-tester.log" "$data/xfs_patched.fsync-tester.log" --strict
code 1 "$good" "$bad" --bisect
code 0 "$bad" "$good" --bisect
code 125 "$data/xfs_vanilla.fsync-tester.log" "$data/xfs_patched.fsync-tester.log" --bisect
code 125 "$good" /nowhere --bisect
[ ! -s "$dir/out" ] || { echo "an error leaves something on standard output"; exit 1; }
