#!/bin/bash
# SPDX-License-Identifier: MIT
# A record made from a file says the same to compare as the file itself: waits, single numbers, what is unknown.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
data=$(dirname "$0")/../data
pair() { # a b [lines that have to be the same]
	"$STALLMARK" import "$1" -o "$dir/a.smk" --force >/dev/null
	"$STALLMARK" import "$2" -o "$dir/b.smk" --force >/dev/null
	"$STALLMARK" compare "$1" "$2" | sed '/^  [AB]  /d; /^Same: /d' | grep -e "${3:-}" >"$dir/files"
	"$STALLMARK" compare "$dir/a.smk" "$dir/b.smk" | sed '/^  [AB]  /d; /^Same: /d' | grep -e "${3:-}" >"$dir/records"
	grep -q VERDICT "$dir/files"
	diff "$dir/files" "$dir/records" || { echo "$1, $2: file (<) and record (>) differ"; exit 1; }
}
pair "$data/2011-03-fsmark-fio/vanilla.blkparse-total.txt" "$data/2011-03-fsmark-fio/patched.blkparse-total.txt"
pair "$data/import/fs_mark.txt" "$data/import/fs_mark-v.txt"
pair "$data/2010-07-cfq-fsync/ext3_vanilla.fsync-tester.log" "$data/2010-07-cfq-fsync/ext3_patched.fsync-tester.log" 'VERDICT\|fsync'
