#!/bin/bash
# SPDX-License-Identifier: MIT
# A fresh Debian 12 (debootstrap chroot): tools/deps installs everything, it builds, installs, and the installed program answers.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
[ "$(id -u)" -eq 0 ] || { echo "skip: debootstrap needs root"; exit 77; }
command -v debootstrap >/dev/null || { echo "skip: debootstrap is not installed"; exit 77; }
# the mirror this machine uses itself
mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(CREATED_BY)' 2>/dev/null | awk '$2 == "bookworm" && $3 == "Packages" {print $1; exit}')
[ -n "$mirror" ] || { echo "skip: this machine has no Debian 12 mirror configured"; exit 77; }
root=$(mktemp -d /var/tmp/stallmark-chroot.XXXXXX)
done_with() {
	for m in "$root/proc" "$root/dev"; do
		mountpoint -q "$m" && umount -l "$m"
	done
	rm -rf --one-file-system "$root"
}
trap done_with EXIT
debootstrap --variant=minbase bookworm "$root" "$mirror" >"$root.log" 2>&1 || { tail -20 "$root.log"; rm -f "$root.log"; exit 1; }
rm -f "$root.log"
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
cp -r /etc/apt/. "$root/etc/apt/"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mkdir "$root/src"
git -C "$top" archive HEAD | tar -x -C "$root/src"
env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C TERM=dumb \
	http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" chroot "$root" /bin/bash -eo pipefail -c '
	cd /src
	tools/deps run
	meson setup build | tail -25
	ninja -C build | tail -1
	meson install -C build >/dev/null
	stallmark --version
	stallmark --help >/dev/null
	stallmark scenarios >/dev/null
	stallmark lab disks >/dev/null
	test -f /usr/local/share/man/man1/stallmark.1
	test -f /usr/local/share/bash-completion/completions/stallmark
	cd / && mv /src /elsewhere
	stallmark scenarios | grep -q quick
'
echo "a fresh Debian 12 installs, builds and runs it"
