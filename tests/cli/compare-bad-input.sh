#!/bin/bash
# SPDX-License-Identifier: MIT
# What compare does with empty, single, equal, negative and broken input: an answer that claims nothing, or a sentence
# and exit 2; a directory's broken file is named and the rest used (exit 3 with --strict).
set -eu
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

code() { # expected, arguments...
	local want=$1 got=0
	shift
	"$STALLMARK" compare "$@" >out 2>err </dev/null || got=$?
	[ $got -eq "$want" ] || { echo "exit $got instead of $want: compare $*"; cat out err; exit 1; }
}
waits() { awk -v n="$1" -v m="$2" -v s="$3" 'BEGIN { srand(s); for (i = 0; i < n; i++) printf "fsync time: %.4f\n", m * (0.5 + rand()) }'; }

: >empty
echo 'fsync time: 0.5' >one
for _ in $(seq 30); do echo 'fsync time: 0.5000'; done >equal
waits 60 0.5 1 >a
waits 60 0.5 2 >b
printf 'fsync time: 0.3\nfsync time: -1.5\nfsync time: 0.2\n' >negative
printf 'fsync time: 0.3\nfsync time: nan\nfsync time: 0.2\nfsync time: inf\n' >nan

code 2 empty a
grep -q empty err
code 0 one one --json
jq -e '.verdict == "UNCLEAR" and .rows[0].theta.value == null' out >/dev/null
code 0 one a --json
jq -e '.verdict == "UNCLEAR"' out >/dev/null
code 0 equal equal --json
jq -e '(.verdict == "SAME" or .verdict == "UNCLEAR") and .rows[0].theta.value == 0.5' out >/dev/null
code 0 a b --json
jq -e '.verdict != "BETTER" and .verdict != "WORSE"' out >/dev/null
for strange in negative nan; do		# refused with the line, or passed over and said: never a wait
	"$STALLMARK" compare $strange a --json >out 2>err && jq -e '.rows[0].a.n == 2 and (.sides[0].notes | length) > 0' out >/dev/null ||
		grep -q "$strange" err || { echo "$strange: neither refused nor said"; cat out err; exit 1; }
done
mkdir many
cp a many/1; cp b many/2; waits 60 0.5 3 >many/3
printf 'SQLite format 3\0this is none' >many/4.smk
mkdir other
for i in 1 2 3; do waits 60 0.05 "$i" >"other/$i"; done
code 0 many other --json
jq -e '.verdict == "BETTER" and .strength == "runs" and .felt == true' out >/dev/null || { jq . out; exit 1; }
jq -e '.sides[0].runs == 3 and (.sides[0].notes[0] | test("4.smk"))' out >/dev/null
code 3 many other --strict
code 0 'many/[123]' 'other/*' --json
jq -e '.sides[0].runs == 3 and .sides[0].notes == []' out >/dev/null
mkdir nothing
code 2 nothing a
# more than two sides: each against the first
code 0 many other many --json
jq -e '[.rows[].side] == ["B", "C"] and .rows[0].verdict == "BETTER" and .rows[1].verdict != "BETTER"' out >/dev/null
