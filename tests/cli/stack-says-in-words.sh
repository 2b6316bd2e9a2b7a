#!/bin/sh
# SPDX-License-Identifier: MIT
# A pasted kernel stack is answered in words: the 2009 one waits for a journal commit; text without a stack is exit 2.
set -eu
data=$(dirname "$0")/../data
"$STALLMARK" stack "$data/stack_fsync_wait_2.6.29.txt" | grep -q 'in fsync: waits for a journal commit'
"$STALLMARK" stack --json < "$data/stacks/hung-task-6.18.txt" |
	jq -e '.schema == "stallmark.stack/1" and .waits[0].class == "lock" and .waits[0].owner_pid == 2290' > /dev/null
rc=0
echo hello | "$STALLMARK" stack > /dev/null 2>&1 || rc=$?
[ "$rc" = 2 ]
