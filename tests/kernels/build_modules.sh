#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Builds the modules of the tests for the kernel whose headers fetch.sh has unpacked.
#
# usage: build_modules.sh FOLDER     FOLDER/headers, FOLDER/release → FOLDER/modules/*.ko
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(cd "$1" && pwd)
source=$folder/headers/usr/src
kernel=$source/linux-headers-$(cat "$folder/release")
modules=$folder/modules
sources=("$here"/fake_lbr/fake_lbr.[ch] "$here"/modules/*.[ch])

[ -d "$modules" ] && [ -z "$(find "${sources[@]}" -newer "$modules/built" 2>&1)" ] && exit 0
# Installed, they would be below /usr/src.
sed -i "s|^include .*/\(linux-headers-[^/]*/Makefile\)\$|include $source/\1|" "$kernel/Makefile"
unset MAKEFLAGS MAKELEVEL
rm -rf "$modules" && mkdir "$modules"
cp "${sources[@]}" "$modules/"
echo 'obj-m := fake_lbr.o busy_one.o busy_two.o' >"$modules/Kbuild"
# The compiler of this machine, which may be another than the kernel's; and no BTF, as the kernel
# itself is not there.
make -s -C "$kernel" M="$modules" CC="${CC:-gcc}" CROSS_COMPILE= CONFIG_DEBUG_INFO_BTF_MODULES= \
	modules >"$folder/modules.log" 2>&1 || {
	tail -n 20 "$folder/modules.log" >&2
	exit 1
}
touch "$modules/built"
