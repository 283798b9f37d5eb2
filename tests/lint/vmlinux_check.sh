#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Checks vmlinux/vmlinux.h against a kernel's BTF: every struct, field and enumerator in it must be
# there, each field with its type. What is marked "since N.N" or "until N.N" may be missing or of
# another type, and is said. What stands behind ___ in a name of ours is not part of the name.
#
# usage: tests/lint/vmlinux_check.sh [BTF file]      default /sys/kernel/btf/vmlinux
set -u
cd "$(dirname "$0")/../.." || exit 1
btf=${1:-/sys/kernel/btf/vmlinux}
bpftool=${BPFTOOL:-bpftool}

if [ ! -r "$btf" ]; then
	echo "vmlinux_check: cannot read $btf: this kernel has no BTF; give a BTF file" >&2
	exit 1
fi
dump=$(mktemp) || exit 1
trap 'rm -f "$dump"' EXIT
"$bpftool" btf dump file "$btf" format c >"$dump" || exit 1

# Both files as lines "struct.field type", nested members at their own level, one pass over each.
awk -v ours=vmlinux/vmlinux.h '
# "unsigned int" and "__u32" are one type, whichever way a kernel spells it.
function plain(type) {
	gsub(/long unsigned int|unsigned long long|unsigned long|vm_flags_t|__u64|u64/, "U64", type)
	gsub(/unsigned int|__u32|u32|dev_t/, "U32", type)
	gsub(/pid_t|__s32|s32/, "int", type)
	gsub(/__s16|s16/, "S16", type)
	gsub(/const |volatile /, "", type)
	gsub(/ +/, " ", type)
	return type
}
function in_kernel(name) { sub(/___.*/, "", name); return name }
function mark(line) { return match(line, /(since|until) [0-9.]+/) ? substr(line, RSTART, RLENGTH) : "" }
FNR == 1 { depth = 0; name = "" }
/^(struct|union|enum) [a-z_0-9]+ \{/ { name = $2; kind = $1; depth = 1; has[FILENAME, name] = 1
	if (FILENAME == ours) { order[++count] = name; kinds[name] = kind; whole[name] = mark($0) }
	next }
name && /\{$/ { depth++; next }
name && /^\t*\}/ { if (--depth == 0) name = ""; next }
name && kind == "enum" { split($0, part, /[ \t=,]+/); field = part[2] ? part[2] : part[1]
	type = "enumerator" }
name && kind != "enum" && /;/ {
	line = $0; sub(/\/\*.*/, "", line); sub(/;.*/, "", line); sub(/^[ \t]+/, "", line)
	array = line ~ /\[/; sub(/\[.*/, "", line); sub(/ *:.*/, "", line)
	match(line, /[a-z_A-Z0-9]+$/); field = substr(line, RSTART)
	type = plain(substr(line, 1, RSTART - 1)) (array ? "[]" : ""); sub(/ +$/, "", type)
}
name && field {
	types[FILENAME, name, field] = type
	if (FILENAME == ours) { fields[++rows] = name SUBSEP field
		since[name, field] = mark($0) ? mark($0) : whole[name] }
	field = ""
}
END {
	kernel = FILENAME
	for (i = 1; i <= count; i++)
		if (!((kernel, in_kernel(order[i])) in has) && whole[order[i]] == "") {
			print "vmlinux_check: the kernel has no " kinds[order[i]] " " order[i]; bad = 1 }
	for (i = 1; i <= rows; i++) {
		split(fields[i], part, SUBSEP); where = part[1] "." part[2]
		known = types[kernel, in_kernel(part[1]), part[2]]
		if (known == types[ours, fields[i]])
			continue
		if (since[part[1], part[2]] != "") {
			print "vmlinux_check: " where " is not in this kernel (" \
				since[part[1], part[2]] ")"; continue }
		if (known == "")
			print "vmlinux_check: the kernel has no " where
		else
			print "vmlinux_check: " where " is `" known "` in the kernel, `" \
				types[ours, fields[i]] "` here"
		bad = 1
	}
	if (!bad) print "vmlinux_check: " rows " fields of " count " types are as in the kernel"
	exit bad
}' vmlinux/vmlinux.h "$dump"
