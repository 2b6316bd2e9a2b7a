#!/bin/sh
# SPDX-License-Identifier: MIT
# Two columns quoted in a mail, with CRLF: each is a side; a record takes the one that is chosen, and its numbers are right.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
printf '> > vanilla             patched\r\n> > fsync time: 3.4173  fsync time: 0.0171\r\n> > fsync time: 0,8831\r\n' >"$dir/mail"

if "$STALLMARK" import "$dir/mail" -o "$dir/a.smk" 2>"$dir/err"; then echo "took a file of two sides"; exit 1; fi
grep -q 'holds several sides.*--side 1' "$dir/err"
[ ! -e "$dir/a.smk" ]
"$STALLMARK" import "$dir/mail" --side 1 -o "$dir/a.smk" --json >"$dir/a.json"
grep -q '"format": "fsync-tester"' "$dir/a.json"
grep -q '"waits": 2' "$dir/a.json"
"$STALLMARK" import --side 2 - -o "$dir/b.smk" --json <"$dir/mail" | grep -q '"waits": 1'
"$STALLMARK" export "$dir/a.smk" --as csv >"$dir/a.csv"
grep -q ',3.417300000,ok' "$dir/a.csv"
grep -q ',0.883100000,ok' "$dir/a.csv"
if "$STALLMARK" import "$dir/mail" --side 3 -o "$dir/c.smk" 2>"$dir/err"; then exit 1; fi
grep -q 'has no side 3, only 2' "$dir/err"
[ "$(ls "$dir")" = "a.csv
a.json
a.smk
b.smk
err
mail" ] || { echo "left something behind:"; ls "$dir"; exit 1; }
