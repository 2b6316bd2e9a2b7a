#!/bin/bash
# SPDX-License-Identifier: MIT
# Each bad input: exit 2, one sentence that says what to do, no record and no other file left.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
data=$(dirname "$0")/../data/import
refused() { # words in the sentence; arguments
	local say=$1 r=0
	shift
	"$STALLMARK" import "$@" -o "$dir/out.smk" >"$dir/said" 2>&1 || r=$?
	[ $r -eq 2 ] || { echo "exit $r: $*"; exit 1; }
	grep -q -- "$say" "$dir/said" || { echo "for $* it said:"; cat "$dir/said"; exit 1; }
	[ "$(wc -l <"$dir/said")" -eq 1 ] || { cat "$dir/said"; exit 1; }
	rm "$dir/said"
	[ -z "$(find "$dir" -name 'out.smk*')" ] || { echo "$* left a record"; exit 1; }
}
file() { printf "$1" >"$dir/in"; }

refused 'cannot open' "$dir/missing"
refused 'is a directory' "$dir"
file '' && refused 'is empty' "$dir/in"
file 'My disk is slow.\nVery slow.\n' && refused 'say so with --as' "$dir/in"
file '1.5\n-3\n' && refused 'line 2: -3 is not a wait' "$dir/in"
file 'seconds\nnan\n-1\n' && refused 'is not a wait' "$dir/in"
file 'seconds\n1e300\n' && refused 'is not a wait' "$dir/in"
file 'second,dirty_kb\n0,100\n' && refused 'no column of waits' "$dir/in" --as csv
file '1.5\n' && refused "did you mean 'fsync-tester'" "$dir/in" --as fsync-testr
file '1.5\n' && refused 'no unit of time' "$dir/in" --unit parsec
file '1.5\n' && refused 'no side' "$dir/in" --side 0
file '\x1f\x8b\x08\x00' && refused 'unpack it first' "$dir/in"
file 'SQLite format 3\0' && refused 'is a run record already' "$dir/in"
file '{ "fio version" : "fio-3", "jobs" : [ { "jobname" : "x' && refused 'no results of fio' "$dir/in"
printf 'Tag=x,1.0,1.0,1.0,HISTFAAAACp4nJNpmSzMwMDAzgABzFCakYH\n' >"$dir/in"
refused 'cut off' "$dir/in"
refused 'averages over intervals' "$data/averaged_clat.1.log"
cp "$data/job_clat.1.log" "$dir/job_bw.1.log"
refused 'bandwidth, not latencies' "$dir/job_bw.1.log"

file '1.5\n2.5\n'
r=0
"$STALLMARK" import "$dir/in" -o "$dir/no/such/place.smk" 2>"$dir/said" || r=$?
[ $r -eq 2 ] && grep -q 'no/such/place' "$dir/said"
"$STALLMARK" import "$dir/in" -o "$dir/there.smk" >/dev/null
r=0
"$STALLMARK" import "$dir/in" -o "$dir/there.smk" >/dev/null 2>"$dir/said" || r=$?
[ $r -eq 2 ] && grep -q -- '--force replaces it' "$dir/said"
"$STALLMARK" import "$dir/in" -o "$dir/there.smk" --force >/dev/null
r=0
"$STALLMARK" import "$dir/in" >/dev/null 2>&1 || r=$?
[ $r -eq 2 ]
