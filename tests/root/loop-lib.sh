# SPDX-License-Identifier: MIT
# Sourced after lib.sh: a filesystem of one's own on a loop device, that can be frozen.
#
#	mount_loop SIZE_MB FSTYPE	sets $loop and $mnt; unmounted and detached at the end (call at_end_loop from at_end)

mount_loop() {
	mnt=$scratch/mnt
	mkdir "$mnt"
	truncate -s "$1M" "$scratch/disk"
	"mkfs.$2" -q "$scratch/disk" >/dev/null 2>&1 || skip "mkfs.$2 does not work here"
	loop=$(losetup --find --show "$scratch/disk") || skip "no loop device"
	mount "$loop" "$mnt" || skip "cannot mount $2"
}

at_end_loop() {
	[ -n "${mnt:-}" ] || return 0
	fsfreeze -u "$mnt" 2>/dev/null || true
	for _ in $(seq 100); do
		mountpoint -q "$mnt" || break
		umount "$mnt" 2>/dev/null && break
		sleep 0.1
	done
	losetup -d "$loop" 2>/dev/null || true
}

# The value of a JSON path of `stallmark show`: json FILE 'd["probes"][0]["n"]'
json() { "$STALLMARK" show --json "$1" | python3 -c "import json,sys; d=json.load(sys.stdin); p={x['name']:x for x in d['probes']}; print($2)"; }
