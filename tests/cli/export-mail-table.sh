#!/bin/bash
# SPDX-License-Identifier: MIT
# lkml: ASCII, at most 72 columns, no tabs, with the worst wait; md: a table; json: one document.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$STALLMARK" import "$(dirname "$0")/../data/2010-07-cfq-fsync/ext3_vanilla.fsync-tester.log" -o "$dir/a.smk" >/dev/null
"$STALLMARK" export "$dir/a.smk" --as lkml >"$dir/mail"
awk 'length($0) > 72 { print "too wide: " $0; bad = 1 } /\t/ { print "tab: " $0; bad = 1 } END { exit bad }' "$dir/mail"
if LC_ALL=C grep -n '[^ -~]' "$dir/mail"; then echo "not ASCII"; exit 1; fi
grep -q '^ *fsync .*9.71 s' "$dir/mail"
"$STALLMARK" export "$dir/a.smk" --as md | grep -q '^| fsync |.*9.71 s'
"$STALLMARK" export "$dir/a.smk" --as json >"$dir/json"
head -c 33 "$dir/json" | grep -q '^{"schema": "stallmark.record/1",'
if command -v jq >/dev/null; then
	[ "$(jq -s 'length' "$dir/json")" = 1 ]
	[ "$(jq '.samples[0].wait | max' "$dir/json")" = 9.7134 ]
fi
