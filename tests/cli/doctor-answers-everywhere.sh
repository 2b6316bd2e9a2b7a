#!/bin/sh
# SPDX-License-Identifier: MIT
# doctor ends with 0 and fits 78 columns, says for each part that does not work what that costs, and its JSON is one document.
set -eu
out=$(mktemp) json=$(mktemp)
trap 'rm -f "$out" "$json"' EXIT
"$STALLMARK" doctor >"$out"
[ "$(awk 'length > 78' "$out" | wc -l)" -eq 0 ] || { echo "FAILED: wider than 78 columns"; awk 'length > 78' "$out"; exit 1; }
for part in $(awk '$2 == "missing" || $2 == "partly" { print $1 }' "$out"); do
	grep -q "^! $part: " "$out" || { echo "FAILED: nothing is said about $part"; exit 1; }
done
"$STALLMARK" doctor --json >"$json"
head -2 "$json" | grep -q '"schema": "stallmark.doctor/1"' || { echo "FAILED: no schema first"; exit 1; }
# no runtime folder at all: the part is missing, the command is not
STALLMARK_RUNTIME_DIR=/proc/nowhere "$STALLMARK" doctor | grep -q '^  undo *missing'
