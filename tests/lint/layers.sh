#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Holds the layer rule: a folder of user/ includes only folders to its left, and of another folder
# only the header that bears its name (base/ is a toolbox: any header). Only capture/ knows libbpf and
# the skeletons, only binary/ and unwind/ know libelf and libdw.
#
# usage: tests/lint/layers.sh TREE
cd "${1:-.}" || exit 2
find user include bpf -name '*.[ch]' 2>/dev/null | sort | xargs awk '
BEGIN {
	count = split("base cli event profile binary host unwind lbr perfdata export symbolize " \
		"capture screen continuous cmd", folders, " ")
	for (i = 1; i <= count; i++)
		level[folders[i]] = i
	level["main.c"] = count + 1
}
function complain(why)
{
	printf "%s:%d: %s\n", FILENAME, FNR, why
	bad = 1
}
function check_neighbour(target,    parts)
{
	split(target, parts, "/")
	if (!(parts[1] in level)) {
		if (target ~ /\.skel\.h$/ && folder != "capture")
			complain("only capture/ may include the skeleton " target)
		return
	}
	if (level[parts[1]] > level[folder])
		complain(folder " is below " parts[1] "/ and may not include " target)
	else if (parts[1] != folder && parts[1] != "base" && parts[2] != parts[1] ".h")
		complain(target " is private to " parts[1] "/; include " parts[1] "/" parts[1] ".h")
}
function check_system(target)
{
	if (target ~ /^bpf\// && folder != "capture")
		complain("only capture/ may include libbpf")
	if (target ~ /^(libelf|gelf|dwarf|elfutils\/.*)\.h$/ && folder != "binary" && folder != "unwind")
		complain("only binary/ and unwind/ may include libelf and libdw")
}
FNR == 1 {
	split(FILENAME, path, "/")
	side = path[1]
	folder = side == "user" ? path[2] : side
	if (side == "user" && !(folder in level))
		complain("the folder user/" folder " has no place in the order of layers")
}
/^[ \t]*#[ \t]*include/ {
	match($0, /["<][^">]*/)
	target = substr($0, RSTART + 1, RLENGTH - 1)
	if (side == "user" && target ~ /\.\.\//)
		complain("name the folder instead of climbing: " target)
	else if (side == "user" && index($0, "<"))
		check_system(target)
	else if (side == "user")
		check_neighbour(target)
	else if (side == "include" && target !~ /^(bpfprof\/|vmlinux\.h$)/ && index($0, "\""))
		complain("include/ is the contract and includes only bpfprof/…: " target)
	else if (side == "bpf" && (split(target, parts, "/") > 1) && parts[1] in level)
		complain("bpf/ may not include user/")
}
END { exit bad }'
