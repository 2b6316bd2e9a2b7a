#!/bin/bash
# SPDX-License-Identifier: MIT
# Each wrong call: exit 2, one sentence with what there is instead, nothing on standard output, no file left.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
printf 'read_ms,write_ms\n1,2\n' >"$dir/a.csv"
"$STALLMARK" import "$dir/a.csv" -o "$dir/a.smk" >/dev/null
refused() { # words; arguments
	local say=$1 r=0
	shift
	"$STALLMARK" export "$@" >"$dir/out" 2>"$dir/said" || r=$?
	[ $r -eq 2 ] || { echo "exit $r: $*"; exit 1; }
	grep -q -- "$say" "$dir/said" || { echo "for $* it said:"; cat "$dir/said"; exit 1; }
	[ ! -s "$dir/out" ] || { echo "$*: wrote to standard output"; exit 1; }
}
refused 'say as what' "$dir/a.smk"
refused "no format 'cvs'" "$dir/a.smk" --as cvs
refused 'can be imported but not exported' "$dir/a.smk" --as fs-mark
refused 'missing' "$dir/missing.smk" --as csv
refused 'a.csv' "$dir/a.csv" --as json
refused 'has read, write; choose one with --series' "$dir/a.smk" --as fio-lat
refused "no series 'sync'; it has read, write" "$dir/a.smk" --as csv --series sync
touch "$dir/there"
refused 'exists; --force' "$dir/a.smk" --as csv -o "$dir/there"
refused 'choose one with --series' "$dir/a.smk" --as fio-lat -o "$dir/new"
[ ! -e "$dir/new" ]
"$STALLMARK" export "$dir/a.smk" --as fio-lat --series write | grep -q '^2, 2000000, 1, '
