#!/bin/sh
# SPDX-License-Identifier: MIT
# Mistakes are exit code 2 and a sentence with the way out, before anything is written.
set -eu
. "$(dirname "$0")/run-lib.sh"
says() { # CODE WORDS command...
	code=$1 words=$2
	shift 2
	rc=0
	"$@" >"$scratch/out" 2>"$scratch/err" </dev/null || rc=$?
	[ $rc = "$code" ] || fail "'$*' exits with $rc, not $code"
	grep -q -- "$words" "$scratch/err" || fail "'$*' does not say '$words'"
}
small
says 2 "there is no scenario 'quik'; did you mean 'quick'?" "$STALLMARK" run quik --dir "$scratch/dir" --yes
says 2 'Give --dir DIR' "$STALLMARK" run quick
says 2 "cannot work in /nonexistent/x: No such file" "$STALLMARK" run quick --dir /nonexistent/x --yes
says 2 "is not a directory" "$STALLMARK" run quick --dir "$scratch/t.scenario" --yes
says 2 "there is no option '--tme'; did you mean '--time'?" "$STALLMARK" run quick --tme 5s
says 2 "'5 parsecs' is not a time" "$STALLMARK" run quick --dir "$scratch/dir" --time '5 parsecs' --yes
says 2 "nobody can be asked" "$STALLMARK" run "$scratch/t.scenario" --dir "$scratch/dir"
says 2 "did you mean 'fsync'" run --fail-if 'fsnc.p90 > 2s'
says 2 "did you mean 'worst'" run --fail-if 'fsync.wurst > 2s'
says 2 "this scenario has no section 'fsnc'; did you mean 'fsync'?" run -D fsnc.size=1M
says 2 "-D: probe fsync has no key 'sizze'; did you mean 'size'?" run -D fsync.sizze=1M
says 2 "is not in memory" run --record-dir "$scratch"
says 2 "cannot read the scenario" "$STALLMARK" run ./none.scenario --dir "$scratch/dir" --yes
scenario <<EOF
[probe fsnc]
EOF
says 2 "t.scenario:1: there is no probe 'fsnc'; did you mean 'fsync'?" run
scenario <<EOF
[probe fsync]
size = 1X
EOF
says 2 "t.scenario:2: probe fsync: size: '1X' is not a size" run
scenario <<EOF
tme = 5s
[probe fsync]
EOF
says 2 "t.scenario:1: unknown key 'tme'; did you mean 'time'?" run
scenario <<EOF
[load write]
EOF
says 2 "has no \[probe NAME\] section" run
scenario <<EOF
[probe tick]
pause = 1s
EOF
says 2 "is an open loop, which has a rate" run
scenario <<EOF
[probe fsync]
[load write]
n = 4000
EOF
says 2 "are 4000 processes; at most 512" run
scenario <<EOF
[probe fsync]
size = 900T
[load write]
EOF
says 2 "too little space in" run
[ -z "$(ls -A "$scratch/dir")" ] || fail "something was written"
[ ! -e "$scratch/x.smk" ] || fail "a record was written"
