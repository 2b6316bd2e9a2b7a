#!/bin/bash
# SPDX-License-Identifier: MIT
# The live screen in a real terminal: fits 80x24, follows a resize, and Ctrl-C gives back a terminal that works.
set -eu
command -v tmux >/dev/null || { echo "skip: tmux is not installed"; exit 77; }
work=$(mktemp -d /var/tmp/stallmark-live.XXXXXX)
sock=stallmark-live-$$
t() { tmux -L "$sock" "$@"; }
trap 't kill-server 2>/dev/null || true; rm -rf "$work"' EXIT
cat >"$work/live.scenario" <<'S'
# Does the screen work?
[global]
time = 30s
[probe fsync]
[load write]
n = 1
size = 64M
S
until_seen() { # pattern: waits until the screen shows it
	for _ in $(seq 300); do
		t capture-pane -p | grep -qE "$1" && return 0
		sleep 0.1
	done
	echo "never seen: $1"
	t capture-pane -p
	return 1
}
t -f /dev/null new-session -d -x 80 -y 24 "env PS1='ready> ' TERM=screen bash --norc -i"
until_seen '^ready>'
t send-keys "'$STALLMARK' run '$work/live.scenario' --dir '$work' --yes -o '$work/x.smk'" Enter
until_seen 'idle baseline'
until_seen '^Dirty '
t capture-pane -p | grep -q 'probe .*waits .*last .*worst'
[ "$(t capture-pane -p | awk '{ if (length($0) > m) m = length($0) } END { print m }')" -le 80 ]
t resize-window -x 60 -y 15
until_seen '^measuring .*left'
[ "$(t capture-pane -p | awk '{ if (length($0) > m) m = length($0) } END { print m }')" -le 60 ]
t resize-window -x 80 -y 24
t send-keys C-c
until_seen 'ended by a signal'
until_seen '^ready>'
t send-keys "echo still-\$((40+2))" Enter
until_seen '^still-42'
[ "$(t display-message -p '#{alternate_on}')" = 0 ] || { echo "the alternate screen was left on"; exit 1; }
[ "$(t display-message -p '#{cursor_flag}')" = 1 ] || { echo "the cursor is hidden"; exit 1; }
