#!/bin/bash
# SPDX-License-Identifier: MIT
# Without root: profiles are listed and explained, each value with its source; mistakes in names, keys, faults and [lab]
# sections are exit 2 with the place and the nearest right word; a lab without root says that it needs it.
set -eu
dir=$(mktemp -d "${TMPDIR:-/tmp}/stallmark-test.XXXXXX")
trap 'rm -rf "$dir"' EXIT
STALLMARK_PROFILES=$(cd "$(dirname "$0")/../../profiles" && pwd)
export STALLMARK_PROFILES
refuse() { # pattern, arguments...
	local rc=0 want=$1
	shift
	"$STALLMARK" "$@" >"$dir/out" 2>&1 </dev/null || rc=$?
	[ $rc -eq 2 ] && grep -q -- "$want" "$dir/out" && return
	echo "exit $rc, no '$want': $*"
	cat "$dir/out"
	exit 1
}
"$STALLMARK" lab disks --json | jq -e '.schema == "stallmark.lab-disks/1" and (.disks | length) >= 13 and
	(.disks[] | select(.name == "hdd7200_2009") | .random_read > 0.012 and .random_read < 0.0135 and .lab == "real time")' >/dev/null
"$STALLMARK" lab disks usb_stick --json | jq -e '[.values[] | select(.source == null or .source == "")] == []' >/dev/null
"$STALLMARK" lab disks | awk 'length($0) > 78 { print; bad = 1 } END { exit bad }'
refuse "did you mean 'usb_stick'" lab disks usb_stik
refuse "did you mean 'disks'" lab disk
refuse "there is no fault 'frieze'" lab poke x frieze=3s
refuse "which sector" lab poke x error=read
refuse "there is no lab 'nosuchlab'" lab status nosuchlab
refuse "is no name for a lab" lab up ../etc
refuse "no key 'shed'" lab up x shed=bfq
refuse "yes-system" lab up x dirty_bytes=16M
refuse "one of --device" lab fit
printf '[lab log]\ndisk = usb_stick\n[lab data]\ndsk = usb_stick\n[probe fsync]\ndir = @log\n' >"$dir/a.scenario"
refuse "a.scenario:4: lab data has no key 'dsk'; did you mean 'disk'" run "$dir/a.scenario" --dir "$dir" --yes
printf '[lab log]\ndisk = usb_stick\n[probe fsync]\ndir = @lag\n' >"$dir/b.scenario"
refuse "b.scenario:4: there is no \[lab lag\] section; did you mean @log" run "$dir/b.scenario" --dir "$dir" --yes
printf '[lab log]\npoke.5s = frieze=1s\n[probe fsync]\ndir = @log\n' >"$dir/c.scenario"
refuse "c.scenario:2" run "$dir/c.scenario" --dir "$dir" --yes
refuse "no key 'dsk'" run quick --lab dsk=x --yes
printf 'model = hdd\n\nrpm = many # x\n' >"$dir/bad.profile"
refuse 'bad.profile:3: rpm' lab disks "$dir/bad.profile"
printf 'rpm = 7200\n' >"$dir/bad.profile"
refuse 'bad.profile:1' lab disks "$dir/bad.profile"
if [ "$(id -u)" = 0 ]; then
	as() { setpriv --reuid=65534 --clear-groups "$@"; }
	cp "$STALLMARK" "$dir/sm" && chmod 755 "$dir" "$dir/sm"
	rc=0
	as "$dir/sm" lab up x >"$dir/out" 2>&1 || rc=$?
else
	rc=0
	"$STALLMARK" lab up x >"$dir/out" 2>&1 || rc=$?
fi
[ $rc -eq 2 ]
grep -q 'needs root' "$dir/out"
