#!/bin/bash
# SPDX-License-Identifier: MIT
# Each format is found by itself, becomes a record, and says as many waits as the tool itself counted.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
data=$(dirname "$0")/../data
try() { # file format waits
	"$STALLMARK" import "$data/$1" -o "$dir/a.smk" --force --json >"$dir/json" || exit 1
	grep -q "\"format\": \"$2\"" "$dir/json" || { echo "$1 was taken for $(grep format "$dir/json")"; exit 1; }
	grep -q "\"waits\": $3,\?$" "$dir/json" || { echo "$1: $(grep waits "$dir/json"), not $3"; exit 1; }
}
try 2010-07-cfq-fsync/ext3_vanilla.fsync-tester.log fsync-tester 23
try 2010-07-cfq-fsync/ext4_patched.csv csv 12
try 2009-04-ext3-kernel-build/cold_read_2.6.29.csv csv 21
try 2011-03-fsmark-fio/vanilla.blkparse-total.txt blkparse-total 0
try import/fio-jsonplus.json fio-json 573
try import/fio-status.txt fio-json 0
try import/job_clat.1.log fio-lat 60
try import/job_clat_hist.1.log fio-hist 2567
try import/fs_mark.txt fs-mark 0
try import/fs_mark-v.txt fs-mark 0
try import/ioping.txt ioping 4
try import/ioping-B.txt ioping-raw 0
try import/ioping-J.txt ioping-json 2
try import/pg_test_fsync.txt pg-test-fsync 0
try import/sysbench.txt sysbench 26309
try import/time.txt time 4
"$STALLMARK" import "$data/import/fs_mark.txt" -o "$dir/a.smk" --force | grep -q 'files_per_s  *1552.8 /s, more is better'
