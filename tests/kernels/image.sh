#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Makes the file system that a guest runs from: busybox, bpfprof, the kernel tests, the workloads, and
# the shared libraries that these need.
#
# usage: BUILD=folder image.sh ROOT IMAGE
#
# BUILD is the build for the guest's processor, ROOT the folder whose /lib and /bin are the guest's: /
# for this machine's own, or what fetch.sh has unpacked.
set -u

die() {
	printf 'bpfprof: %s\n' "$*" >&2
	exit 1
}

root=${1%/} image=$2
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

library_folders=("$root"/lib/*-linux-gnu "$root"/usr/lib/*-linux-gnu "$root"/lib64 "$root"/lib)

# The libraries and the interpreter that the ELF file $1 names, one a line.
needed() {
	readelf -lWd "$1" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p
		s/.*Requesting program interpreter: \(.*\)\]/\1/p'
}

# Copies what the ELF file $1 needs, and what that needs.
copy_libraries() {
	local name from

	# pthread_exit() opens libgcc_s by itself.
	for name in $(needed "$1") libgcc_s.so.1; do
		[ -e "$folder/lib/${name##*/}" ] && continue
		from=$(find -L "${library_folders[@]}" -maxdepth 1 -name "${name##*/}" 2>/dev/null |
			head -n 1)
		[ -n "$from" ] || die "$1 needs $name, which is not below ${root:-/}"
		cp -L "$from" "$folder/lib/${name##*/}"
		copy_libraries "$from"
	done
}

# Copies the program $1 as $2, without debug information: it would only make the image large.
copy_program() {
	mkdir -p "$(dirname "$folder/$2")"
	objcopy=${CROSS_COMPILE:-}objcopy
	"$objcopy" --strip-debug "$1" "$folder/$2" 2>/dev/null || cp -L "$1" "$folder/$2"
	copy_libraries "$1"
}

mkdir -p "$folder"/{bin,lib,etc,proc,sys,dev,tmp,tests,workloads}
ln -s lib "$folder/lib64"
ln -s . "$folder/usr"
echo 'root:x:0:0:root:/:/bin/sh' >"$folder/etc/passwd"
cp -L "$root/bin/busybox" "$folder/bin/" || die "no busybox-static below ${root:-/}"
ln -s busybox "$folder/bin/sh"
install -m 755 "$here/init.sh" "$folder/init"
install -m 755 "$here/guest_tests.sh" "$here/guest_daemon.sh" "$here/guest_cpus.sh" "$folder/tests/"
install -m 755 "$here/guest_tap.sh" "$here/guest_stacks.sh" "$here/../cli/known_names.sh" "$folder/"
copy_program "$root/bin/true" bin/true
copy_program "$root/usr/bin/sort" bin/coreutils-sort
copy_program "$BUILD/bpfprof" bin/bpfprof
for test in "$BUILD"/tests/kernel/*_test; do
	copy_program "$test" "tests/${test##*/}"
done
copy_program "$BUILD/tests/kernel/live_check" bin/live_check
for workload in "$BUILD"/tests/workloads/*; do
	[ -x "$workload" ] && copy_program "$workload" "workloads/${workload##*/}"
done
(cd "$folder" && find . | cpio -o -H newc --quiet -R 0:0) >"$image.new" && mv "$image.new" "$image"
