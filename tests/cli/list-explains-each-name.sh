#!/bin/sh
# SPDX-License-Identifier: MIT
# Every name that `list` shows can be asked for, with its parameters in text and JSON; a wrong one is exit 2 with the nearest.
set -eu
doc=$("$STALLMARK" list --json)
echo "$doc" | jq -e '.schema == "stallmark.list/1" and (.probes | length) >= 15 and (.loads | length) >= 10' >/dev/null
"$STALLMARK" list | awk 'length($0) > 78 { print "too wide: " $0; bad = 1 } END { exit bad }'
for name in $(echo "$doc" | jq -r '.probes[].name, .loads[].name, .disks[].name, .formats[].name'); do
	"$STALLMARK" list "$name" | awk -v n="$name" 'length($0) > 78 { print n ": too wide: " $0; bad = 1 } END { exit bad }'
	"$STALLMARK" list "$name" --json | jq -e --arg n "$name" '.found | length >= 1 and all(.name == $n)' >/dev/null
done
"$STALLMARK" list wal --json | jq -e '.found[0].parameters[0] | .name == "layout" and .default == "etcd" and .type == "etcd|postgres|append"' >/dev/null
"$STALLMARK" list probes --json | jq -e 'has("probes") and (has("loads") | not)' >/dev/null
rc=0
said=$("$STALLMARK" list fsnc 2>&1) || rc=$?
[ "$rc" = 2 ] || { echo "exit $rc"; exit 1; }
echo "$said" | grep -q "did you mean 'fsync'"
