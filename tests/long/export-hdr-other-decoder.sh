#!/bin/bash
# SPDX-License-Identifier: MIT
# Another decoder (npm hdr-histogram-js) reads our HdrHistogram log: same count, same maximum, same median within 0.1 %.
set -eu
command -v npm >/dev/null || { echo "npm is missing"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$STALLMARK" import "$(dirname "$0")/../data/2010-07-cfq-fsync/ext3_vanilla.fsync-tester.log" -o "$dir/a.smk" >/dev/null
"$STALLMARK" export "$dir/a.smk" --as hdr >"$dir/a.hlog"
cd "$dir"
npm install --no-audit --no-fund --ignore-scripts hdr-histogram-js@3 >npm.log 2>&1 || { echo "npm cannot fetch hdr-histogram-js"; exit 77; }
cat >read.js <<'END'
const hdr = require("hdr-histogram-js"), fs = require("fs");
const sum = hdr.build({ bitBucketSize: 64, numberOfSignificantValueDigits: 3, highestTrackableValue: 86400000000000 });
for (const line of fs.readFileSync("a.hlog", "utf8").split("\n")) {
	const m = line.match(/^Tag=fsync,[0-9.]+,[0-9.]+,[0-9.]+,(HIST.*)$/);
	if (m)
		sum.add(hdr.decodeFromCompressedBase64(m[1]));
}
console.log(sum.totalCount, sum.maxValue, sum.getValueAtPercentile(50));
END
node read.js | tee out
awk '{ if ($1 != 23 || $2 < 9713400000 || $2 > 9723200000 || $3 < 3159700000 || $3 > 3166100000) exit 1 }' out
