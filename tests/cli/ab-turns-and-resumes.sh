#!/bin/bash
# SPDX-License-Identifier: MIT
# ab takes turns AB BA, refuses what belongs in a lab and what is misspelt, ends on Ctrl-C with what there is, and goes on
# from its plan; its records compare again.
set -eu
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
[ -w /var/tmp ] || { echo "/var/tmp is not writable"; exit 77; }
dir=$(mktemp -d /var/tmp/stallmark-ab.XXXXXX)
pid=
trap 'kill "$pid" 2>/dev/null || true; rm -rf "$dir"' EXIT
mkdir "$dir/work"
cat >"$dir/t.scenario" <<'S'
# a small one
time = 1s
idle = 1s
load-up = 2s
recovery-max = 1s
[probe fsync]
pause = 10ms
[load write]
n = 1
size = 4M
S
cd "$dir"
common="./t.scenario --dir work --yes --quiet --json"

refused() { # words, arguments...
	local words=$1 got=0
	shift
	"$STALLMARK" ab "$@" >out 2>err </dev/null || got=$?
	[ $got -eq 2 ] || { echo "exit $got instead of 2: ab $*"; cat err; exit 1; }
	grep -q "$words" err || { echo "no word of '$words': ab $*"; cat err; exit 1; }
	[ ! -s out ]
}
refused 'only done in a lab' $common --a fs=ext4 --b fs=xfs
refused "did you mean 'scheduler'" $common --a schedulr=bfq --b ''
refused 'exclude each other' $common --a '' --b '' --rounds 3 --until decided
refused "is not KEY=VALUE" $common --a write.n --b ''
refused 'ab needs --dir' ./t.scenario --a '' --b ''
refused 'side B' $common --a '' --b fsync.nonsense=1
refused 'cannot read the plan' --resume "$dir/nowhere"
[ "$(id -u)" = 0 ] && refused 'yes-system' $common --a vm.dirty_ratio=5 --b ''
refused 'nobody can be asked\|nothing was done' ./t.scenario --dir work --a '' --b ''

"$STALLMARK" ab $common --a fsync.pause=10ms --b fsync.pause=20ms --rounds 2 -o out.ab >json 2>err </dev/null &
pid=$!
for _ in $(seq 1200); do
	grep -q '^run' out.ab/plan 2>/dev/null && break
	kill -0 $pid 2>/dev/null || { echo "ab ended early"; cat err; exit 1; }
	sleep 0.1
done
kill -INT $pid
code=0
wait $pid || code=$?
[ $code -eq 130 ] || { echo "exit $code instead of 130 after SIGINT"; cat err; exit 1; }
grep -q -- '--resume out.ab' err
done_before=$(grep -c '^run' out.ab/plan)
"$STALLMARK" ab --resume out.ab --yes --quiet --json >json 2>err </dev/null || { echo "resume: exit $?"; cat err; exit 1; }
[ "$(grep '^run' out.ab/plan | cut -c5 | tr -d '\n')" = abba ] || { echo "not ABBA:"; cat out.ab/plan; exit 1; }
[ "$done_before" -lt 4 ]
grep -q "^run b b-002.smk $(uname -r)" out.ab/plan
jq -e '.schema == "stallmark.ab/1" and .rounds == 2 and .sides[1].label == "fsync.pause=20ms" and .sides[0].runs == 2' json >/dev/null
"$STALLMARK" compare 'out.ab/a-*.smk' 'out.ab/b-*.smk' --json >json
jq -e '.rows[0].name == "fsync" and ([.rows[] | select(.kind == "load")] | length) == 1' json >/dev/null
# one differing setting is the factor: compare accepts it and lists it
jq -e '.differences | length >= 1' json >/dev/null
