#!/bin/bash
# SPDX-License-Identifier: MIT
# The verdicts on the four published fsync tables of 2010: ext3 at most suggestively better with the drift noticed, XFS
# unclear with a slowdown above 3 % ruled out, ext4 unclear with its two kinds of wait, barrier=1 different but not felt.
set -eu
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
data=$(dirname "$0")/../data/2010-07-cfq-fsync
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

pair() { "$STALLMARK" compare "$data/$1_vanilla.fsync-tester.log" "$data/$1_patched.fsync-tester.log" --json >"$dir/$1" || echo "$1: exit $?"; }
holds() { jq -e "$2" "$dir/$1" >/dev/null || { echo "$1: not true: $2"; jq '{verdict, strength, felt, headline}, .rows[0]' "$dir/$1"; exit 1; }; }

pair ext3
holds ext3 '.schema == "stallmark.compare/1"'
holds ext3 '.strength == "suggestive" and .verdict == "BETTER"'
holds ext3 '.rows[0].drift_a.wait == 13 and (.rows[0].theta.p - 0.04010079856302145 | fabs) < 1e-6'
holds ext3 '(.rows[0].a.stuck - 0.6182393065226658 | fabs) < 1e-6 and (.rows[0].b.stuck - 0.22094204426288308 | fabs) < 1e-6'
pair xfs
holds xfs '.verdict == "UNCLEAR" and .strength == "one-run"'
holds xfs '.rows[0].rules_out_slower > 0.03 and .rows[0].rules_out_slower < 0.035'
holds xfs '.headline | test("more than 3.1 % slower")'
pair ext4
holds ext4 '.verdict == "UNCLEAR" and .strength == "one-run"'
holds ext4 '.rows[0].two_kinds_a.low < 0.12 and .rows[0].two_kinds_a.high > 10 and .rows[0].two_kinds_b != null'
holds ext4 '.rows[0].note | test("two kinds of wait")'
holds ext4 '.hint.rounds >= 5 and .hint.run_length > 0'
pair ext3-barrier
holds ext3-barrier '.verdict == "BETTER" and .strength == "one-run" and .felt == false'
holds ext3-barrier '.headline | test("these two runs differ")'

# the same as two pasted columns, also as quoted mail with CRLF
paste "$data/xfs_vanilla.fsync-tester.log" "$data/xfs_patched.fsync-tester.log" | sed 's/^/> > /; s/$/\r/' |
	"$STALLMARK" compare - --json >"$dir/paste"
holds paste '.verdict == "UNCLEAR" and .rows[0].a.n == 24'
[ "$(jq .rows[0].theta.p "$dir/paste")" = "$(jq .rows[0].theta.p "$dir/xfs")" ] || { echo "a paste gives other digits"; exit 1; }

# every screen fits: 78 columns, a mail 72 and no tabs
for k in ext3 xfs ext4 ext3-barrier; do
	"$STALLMARK" compare "$data/${k}_vanilla.fsync-tester.log" "$data/${k}_patched.fsync-tester.log" -v >"$dir/screen"
	"$STALLMARK" compare "$data/${k}_vanilla.fsync-tester.log" "$data/${k}_patched.fsync-tester.log" --format lkml >"$dir/mail"
	awk 'length > 78 { print "too wide: " $0; bad = 1 } END { exit bad }' "$dir/screen"
	awk 'length > 72 { print "too wide: " $0; bad = 1 } END { exit bad }' "$dir/mail"
	! grep -qP '\t|[^\x00-\x7f]' "$dir/mail" || { echo "the mail has tabs or letters outside ASCII"; exit 1; }
	grep -q 'A  all' "$dir/mail"
done
