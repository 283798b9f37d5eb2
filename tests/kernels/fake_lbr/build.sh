#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Builds the fake PMU for the kernel whose headers fetch.sh has unpacked.
#
# usage: build.sh FOLDER     FOLDER/headers, FOLDER/release → FOLDER/fake_lbr.ko
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(cd "$1" && pwd)
source=$folder/headers/usr/src
kernel=$source/linux-headers-$(cat "$folder/release")
module=$folder/module

[ "$folder/fake_lbr.ko" -nt "$here/fake_lbr.c" ] && [ "$folder/fake_lbr.ko" -nt "$here/fake_lbr.h" ] &&
	exit 0
# Installed, they would be below /usr/src.
sed -i "s|^include .*/\(linux-headers-[^/]*/Makefile\)\$|include $source/\1|" "$kernel/Makefile"
unset MAKEFLAGS MAKELEVEL
rm -rf "$module" && mkdir "$module"
cp "$here/fake_lbr.c" "$here/fake_lbr.h" "$module/"
echo 'obj-m := fake_lbr.o' >"$module/Kbuild"
# The compiler of this machine, which may be another than the kernel's; and no BTF, as the kernel
# itself is not there.
make -s -C "$kernel" M="$module" CC="${CC:-gcc}" CROSS_COMPILE= CONFIG_DEBUG_INFO_BTF_MODULES= \
	modules >"$folder/module.log" 2>&1 || {
	tail -n 20 "$folder/module.log" >&2
	exit 1
}
cp "$module/fake_lbr.ko" "$folder/fake_lbr.ko"
