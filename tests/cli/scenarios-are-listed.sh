#!/bin/sh
# SPDX-License-Identifier: MIT
# Every shipped scenario is listed with its question, prints itself, and makes a plan.
set -eu
. "$(dirname "$0")/run-lib.sh"
"$STALLMARK" scenarios --json >"$scratch/json"
names=$(python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema"] == "stallmark.scenarios/1"
for s in d["scenarios"]:
    assert len(s["question"]) > 20, s
    print(s["name"])
' "$scratch/json")
[ "$(echo "$names" | wc -l)" -ge 14 ] || fail "only: $names"
for n in kernel-build osync-tar torture-fsync fsmark-fio copy-storm quick database etcd wal-beside-backup desktop usb-copy package-upgrade container-pull backup; do
	echo "$names" | grep -qx $n || fail "$n is missing"
done
for n in $names; do
	"$STALLMARK" scenarios "$n" | grep -qE '^(\[probe |include = )' || fail "$n does not print itself"
	rc=0
	"$STALLMARK" run "$n" --dir "$scratch/dir" </dev/null >/dev/null 2>"$scratch/err" || rc=$?
	[ $rc = 2 ] && grep -q 'nobody can be asked' "$scratch/err" || fail "$n makes no plan"
done
"$STALLMARK" scenarios | awk 'length($0) > 78 { exit 1 }' || fail "the list is wider than 78 columns"
[ -z "$(ls -A "$scratch/dir")" ]
