#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# check: what this machine and user allow.
#
# Runs beside others.

load common

as_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"
}

@test "every row has a mark, and root may record" {
	need_root
	run "$BPFPROF" check
	[ "$status" -eq 0 ]
	[[ $output == *"[ok]   kernel BTF"* ]]
	[[ $output != *"[fail]"* ]]
	[ "$(grep -cE '^\[(ok|warn|none)\]' <<<"$output")" -ge 12 ]
}

@test "what is missing stands with what it is for and what to do" {
	need_root
	run as_nobody "$BPFPROF" check
	[ "$status" -eq 1 ]
	[[ $output == *"[fail] BPF ring buffer"* ]]
	[[ $output == *"needed for any recording; run as root, or give the program CAP_BPF"* ]]
}

@test "JSON says the same to scripts" {
	need_root
	"$BPFPROF" check --json >all.json
	[ "$(jq .version all.json)" = 1 ]
	[ "$(jq .ready all.json)" = true ]
	[ "$(jq -r '.features[] | select(.id == "kernel-btf") | .status' all.json)" = ok ]
	[ "$(jq -r '.features[0].remedy' all.json)" = null ]
	[ "$(jq '.features | length' all.json)" -eq "$("$BPFPROF" check | grep -c '^\[')" ]
	as_nobody "$BPFPROF" check --json >few.json || true
	[ "$(jq .ready few.json)" = false ]
	[ "$(jq -r '.features[] | select(.id == "ring-buffer") | .reason' few.json)" = "Operation not permitted" ]
}

@test "a kernel without BTF fails, and the remedy is named" {
	need_root
	mkdir empty
	run unshare -m sh -c "mount --bind empty /sys/kernel/btf && exec $BPFPROF check"
	[ "$status" -eq 1 ]
	[[ $output == *"[fail] kernel BTF"*"CONFIG_DEBUG_INFO_BTF=y"* ]]
}

@test "hidden kernel symbols are a warning: recording works without" {
	need_root
	: >hidden
	run unshare -m sh -c "mount --bind hidden /proc/kallsyms && exec $BPFPROF check"
	[ "$status" -eq 0 ]
	[[ $output == *"[warn] kernel symbols"*"sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1"* ]]
}

@test "root is not told to become root" {
	need_root
	run "$BPFPROF" check
	line=$(grep -A1 'mappings of all processes' <<<"$output")
	[[ $line == "[ok]"* || $line == *"this user may, but a sandbox or security module"* ]]
	run setpriv --bounding-set -sys_ptrace --inh-caps -sys_ptrace "$BPFPROF" check
	line=$(grep -A1 'mappings of all processes' <<<"$output")
	[[ $line == "[ok]"* || $line == *"CAP_SYS_PTRACE (a container too)"* ]]
}

@test "an argument is refused" {
	run "$BPFPROF" check everything
	[ "$status" -eq 2 ]
	[[ $output == "bpfprof: check takes no argument: everything; "* ]]
}
