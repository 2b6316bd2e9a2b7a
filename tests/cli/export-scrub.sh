#!/bin/bash
# SPDX-License-Identifier: MIT
# --scrub: no host name, no path, no command line in any format; numbers stay as they are.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
host=$(uname -n)
cat >"$dir/secret-file.json" <<END
{ "fio version" : "fio-3.33", "global options" : { "directory" : "/srv/secret-customer", "bs" : "4k" }, "jobs" : [ {
"jobname" : "j", "hostname" : "secret-host.example.com", "error" : 5, "job options" : { "filename" : "/dev/secret", "exec_prerun" : "sync /mnt/secret" },
"read" : { "total_ios" : 2, "iops" : 1234.5, "clat_ns" : { "N" : 2, "bins" : { "100" : 2 } } } } ] }
END
"$STALLMARK" import "$dir/secret-file.json" -o "$dir/a.smk" >/dev/null
"$STALLMARK" export "$dir/a.smk" --as json | grep -q secret-customer	# it is there without --scrub
for f in csv json hdr fio-lat openmetrics chrome lkml md; do
	"$STALLMARK" export "$dir/a.smk" --as $f --scrub >"$dir/out"
	[ -s "$dir/out" ]
	if grep -i -e secret -e "$dir" "$dir/out"; then echo "$f tells a secret"; exit 1; fi
	[ ${#host} -lt 4 ] || ! grep -w -e "$host" "$dir/out" || { echo "$f tells the host"; exit 1; }
done
"$STALLMARK" export "$dir/a.smk" --as json --scrub | grep -q '"fio.bs": "4k"'
"$STALLMARK" export "$dir/a.smk" --as json --scrub | grep -q '"result.read.iops": "1234.5 /s, more is better"'
