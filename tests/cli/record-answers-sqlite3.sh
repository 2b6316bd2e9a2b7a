#!/bin/sh
# SPDX-License-Identifier: MIT
# Every question in stallmark-record(5) is answered by sqlite3 on a real record, and its tables are the documented ones.
set -eu
command -v sqlite3 >/dev/null || { echo "skipped: needs sqlite3"; exit 77; }
src=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp "$src/tests/fuzz/corpus/record/small.smk" "$dir/a.smk"
cp "$src/tests/fuzz/corpus/record/small.smk" "$dir/after.smk"
page=$src/man/stallmark-record.5.scd
cd "$dir"
n=0
sed -n '/^# QUESTIONS/,/^# DAMAGE/s/^\t//p' "$page" >questions
while IFS= read -r sql; do
	sqlite3 a.smk "$sql" >answer || { echo "FAILED: $sql"; exit 1; }
	n=$((n + 1))
done <questions
[ $n -ge 5 ] || { echo "FAILED: only $n questions found in the manual"; exit 1; }
[ "$(sqlite3 a.smk "SELECT s.name, max(c.max), sum(c.n) FROM samples c JOIN series s ON s.id = c.series GROUP BY s.name")" = "wal|50|40" ]
for t in $(sqlite3 a.smk "SELECT name FROM sqlite_schema"); do
	grep -q "^\*.*\*$t\*\|^\*$t\*" "$page" || { echo "FAILED: the manual does not have the table $t"; exit 1; }
	for c in $(sqlite3 a.smk "SELECT name FROM pragma_table_info('$t')"); do
		grep "\*$t\*" "$page" | grep -q "[(, ]${c}[,)]" || { echo "FAILED: the manual does not have $t.$c"; exit 1; }
	done
done
