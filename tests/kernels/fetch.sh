#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Gets packages of any Debian release and processor out of the Debian archive, and unpacks them into a
# folder. Nothing is installed: apt works on lists and a state of its own, and checks the archive's
# signature as always.
#
# usage: fetch.sh kernel SUITE ARCH FOLDER              FOLDER/vmlinuz, FOLDER/release
#        fetch.sh headers SUITE ARCH FOLDER             FOLDER/headers: to build modules of that kernel
#        fetch.sh packages SUITE ARCH FOLDER NAME...    the packages and all they depend on
#
# DEBIAN_MIRROR says from where. What is there already is not fetched again.
set -u

die() {
	printf 'bpfprof: %s\n' "$*" >&2
	exit 1
}

what=$1 suite=$2 arch=$3 folder=$4
shift 4
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
mkdir -p "$folder" && folder=$(cd "$folder" && pwd) || exit 1
state=$folder/apt

apt_options=(
	-o "Dir::Etc::SourceList=$state/sources.list" -o Dir::Etc::SourceParts=-
	-o "Dir::State=$state" -o "Dir::State::status=$state/status" -o "Dir::Cache=$state"
	-o "APT::Architecture=$arch" -o "APT::Architectures::=$arch"
	-o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=3
)

prepare_apt() {
	[ -e "$keyring" ] || die "the Debian archive's keys are missing; install debian-archive-keyring"
	mkdir -p "$state/lists/partial" "$state/archives/partial" && : >"$state/status" || exit 1
	echo "deb [signed-by=$keyring] $mirror $suite main" >"$state/sources.list"
	apt-get "${apt_options[@]}" update -qq >"$state/log" 2>&1 ||
		die "cannot read $mirror $suite: $(grep '^E:' "$state/log" | head -n 1)"
}

# The package with the image itself: the first that a chain of dependencies from the newest kernel's
# name leads to and that depends on no other image.
kernel_package() {
	local name next=linux-image-cloud-$arch

	while [ -n "$next" ]; do
		name=$next
		next=$(apt-cache "${apt_options[@]}" show "$name" | sed -n 's/^Depends: //p' |
			head -n 1 | tr ',' '\n' |
			sed -n 's/^ *\(linux-\(image\|binary\)-[0-9][^ ]*\).*/\1/p' | head -n 1)
	done
	echo "$name"
}

fetch_kernel() {
	local name

	prepare_apt
	name=$(kernel_package)
	(cd "$state" && apt-get "${apt_options[@]}" download -qq "$name") >"$state/log" 2>&1 ||
		die "cannot fetch $name of $suite: $(grep '^E:' "$state/log" | head -n 1)"
	dpkg-deb --fsys-tarfile "$state"/*.deb | # /boot/vmlinuz-…, in /usr/lib/modules since 7.0
		tar -x -O --wildcards '*/vmlinuz*' >"$state/vmlinuz" ||
		die "$name of $suite holds no kernel"
	echo "${name#linux-*-}" >"$folder/release"
	mv "$state/vmlinuz" "$folder/vmlinuz"
}

# What the headers of the kernel in $folder need: those for all processors, and the tools.
fetch_headers() {
	local name package names

	[ -s "$folder/release" ] || die "fetch.sh headers: fetch the kernel first"
	name=linux-headers-$(cat "$folder/release")
	prepare_apt
	names=$(apt-cache "${apt_options[@]}" show "$name" | sed -n 's/^Depends: //p' | head -n 1 |
		tr ',' '\n' | sed -n 's/^ *\(linux-\(headers\|kbuild\)-[^ ]*\).*/\1/p')
	# shellcheck disable=SC2086 # names have no blanks
	(cd "$state" && apt-get "${apt_options[@]}" download -qq "$name" $names) >"$state/log" 2>&1 ||
		die "cannot fetch $name of $suite: $(grep '^E:' "$state/log" | head -n 1)"
	rm -rf "$folder/headers.new" && mkdir -p "$folder/headers.new"
	for package in "$state"/*.deb; do
		dpkg-deb --fsys-tarfile "$package" | tar -x -C "$folder/headers.new" ||
			die "cannot unpack $package"
	done
	mv "$folder/headers.new" "$folder/headers"
}

fetch_packages() {
	local package

	prepare_apt
	apt-get "${apt_options[@]}" install -qq -y --download-only --no-install-recommends "$@" \
		>"$state/log" 2>&1 ||
		die "cannot fetch packages for $arch: $(grep '^E:' "$state/log" | head -n 1)"
	# As in an installed Debian: /lib is /usr/lib, so that paths in linker scripts hold.
	mkdir -p "$folder/usr/lib" "$folder/usr/bin" "$folder/usr/sbin"
	ln -sfn usr/lib "$folder/lib"
	ln -sfn usr/bin "$folder/bin"
	ln -sfn usr/sbin "$folder/sbin"
	for package in "$state"/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$package" | tar -x -C "$folder" --keep-directory-symlink ||
			die "cannot unpack $package"
	done
	printf '%s\n' "$*" >"$folder/packages"
}

case $what in
kernel)
	[ -s "$folder/vmlinuz" ] && exit 0
	fetch_kernel
	;;
headers)
	[ -d "$folder/headers" ] && exit 0
	fetch_headers
	;;
packages)
	[ "$(cat "$folder/packages" 2>/dev/null)" = "$*" ] && exit 0
	fetch_packages "$@"
	;;
*) die "fetch.sh: kernel, headers or packages?" ;;
esac
rm -rf "$state"
