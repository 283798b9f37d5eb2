# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The deepest chain of calls in a BPF program: the bytes of stack that Linux before 6.13 takes for it, and
# the functions with theirs.
#
# usage: bpftool prog dump xlated id ID | awk -f stack_depth.awk
#
# Source: check_max_stack_depth() in kernel/bpf/verifier.c: functions that call one another share 512 bytes,
# each rounded up to 32. r10 is the frame pointer; what is given to helpers is a copy of it with an offset.

function note(bytes) {
	if (bytes + 0 > own[name])
		own[name] = bytes + 0
}

function rounded(bytes) {
	return int(((bytes ? bytes : 1) + 31) / 32) * 32
}

# The bytes from a function on; `way` has the functions.
function depth_of(caller, called, count, i, depth, most, longest) {
	count = split(calls[caller], called, " ")
	for (i = 1; i <= count; i++) {
		depth = depth_of(called[i])
		if (depth > most) {
			most = depth
			longest = way[called[i]]
		}
	}
	way[caller] = caller " (" rounded(own[caller]) ")" (longest == "" ? "" : " > " longest)
	return rounded(own[caller]) + most
}

/^[a-z_].*\):$/ {
	name = $0
	sub(/\(.*/, "", name)
	sub(/.*[ *]/, "", name)
	names[count++] = name
	next
}

/ call pc/ {
	called_here = $0
	sub(/.*#(bpf_prog_[0-9a-f]+_)?/, "", called_here)
	calls[name] = calls[name] " " called_here
}

{
	for (text = $0; match(text, /r10 -[0-9]+/); text = substr(text, RSTART + RLENGTH))
		note(substr(text, RSTART + 5, RLENGTH - 5))
	if (match($0, /r[0-9] = r10$/))
		copy = substr($0, RSTART, 2)
	else if (copy != "" && index($0, copy " += -"))
		note(substr($0, index($0, "+= -") + 4))
}

END {
	for (i = 0; i < count; i++) {
		depth = depth_of(names[i])
		if (depth > deepest) {
			deepest = depth
			deepest_way = way[names[i]]
		}
	}
	print deepest, deepest_way
}
