#!/bin/sh
# SPDX-License-Identifier: MIT
# A whole run: the answer on the screen, the same as JSON in the shape that the manual promises, and nothing left behind.
set -eu
. "$(dirname "$0")/run-lib.sh"
small
run >"$scratch/out" 2>"$scratch/err" || fail "exit code $?"
for words in 'Worst wait' '^  fsync ' '^  tick ' '^  write ' 'Checks:'; do
	grep -q "$words" "$scratch/out" || fail "the screen does not say '$words': $(cat "$scratch/out")"
done
awk 'length($0) > 78 { exit 1 }' "$scratch/out" || fail "a line is wider than 78 columns"
for words in '  where  *'"$scratch/dir" '  probes  fsync, tick' '  writes ' '  time ' 'Saved '; do
	grep -q "$words" "$scratch/err" || fail "the consent does not say '$words'"
done
"$STALLMARK" show --json "$scratch/x.smk" | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert list(d)[0] == "schema" and d["schema"] == "stallmark.show/1"
for k in ("run", "env", "probes", "loads", "checks", "notes"): assert k in d, k
assert d["run"]["partial"] is False and d["run"]["runs"] == 1
f = {p["name"]: p for p in d["probes"]}["fsync"]
for k in ("name", "n", "censored", "warm", "missed", "quantiles", "worst", "stuck", "idle"): assert k in f, k
assert set(f["worst"]) == {"seconds", "at_least"} and f["worst"]["seconds"] > 0 and f["worst"]["at_least"] is None
assert f["n"] > 5 and f["idle"]["n"] > 0, f
t = {p["name"]: p for p in d["probes"]}["tick"]
assert 90 <= t["n"] <= 110, t["n"]
l = d["loads"][0]
assert l["name"] == "write" and l["bytes_written"] > 0 and l["bytes_read"] == 0 and len(l["written_series"]["y"]) > 0
assert d["env"]["kernel.release"] and d["env"]["fs.type"]
'
"$STALLMARK" show "$scratch/x.smk" >"$scratch/again"
cmp "$scratch/out" "$scratch/again" || fail "show does not print what run printed"
run --json 2>/dev/null | python3 -c 'import json,sys; d=json.load(sys.stdin); assert d["schema"] == "stallmark.show/1"'
nothing_left
