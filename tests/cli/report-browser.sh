#!/bin/bash
# SPDX-License-Identifier: MIT
# The report of a real run in a real browser: no console error, no request, hover, zoom, keyboard, contrast, both schemes,
# wide and narrow; its numbers are those of show --json.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
command -v chromium >/dev/null || { echo "skip: chromium is not installed"; exit 77; }
command -v node >/dev/null || { echo "skip: node is not installed"; exit 77; }
if [ ! -d "$top/tests/browser/node_modules/playwright-core" ]; then
	(cd "$top/tests/browser" && npm ci --silent >/dev/null 2>&1) || { echo "skip: npm could not fetch playwright-core"; exit 77; }
fi
work=$(mktemp -d /var/tmp/stallmark-browser.XXXXXX)
trap 'rm -rf "$work"' EXIT
cat >"$work/t.scenario" <<'S'
# Does the report show what the record holds?
[global]
time = 5s
[probe fsync]
pause = 200ms
[probe keystroke]
[load write]
n = 1
size = 64M
S
"$STALLMARK" run "$work/t.scenario" --dir "$work" --yes -q -o "$work/t.smk" >/dev/null
"$STALLMARK" show "$work/t.smk" --json >"$work/show.json"
"$STALLMARK" report "$work/t.smk" -o "$work/t.html"
[ "$(stat -c %s "$work/t.html")" -lt 600000 ] || { echo "the report is over 600 kB"; exit 1; }
need=
[ -f "$top/web/node_modules/uplot/dist/uPlot.iife.min.js" ] && need=1
NEED_UPLOT=$need SECTIONS="s-result s-how-stuck s-over-time s-why--and-who s-caught-stuck s-environment" \
	node "$top/tests/browser/report.mjs" "$work/t.html" "$work/show.json" "${SHOTS:-}"
