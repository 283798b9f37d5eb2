#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What a running recorder has taken so far, for benches to read (`. tests/bench/daemon_cost.sh`).

# sum_cpu PID...: CPU time of processes and of those of their children that have ended, in ms
sum_cpu() {
	local one after ticks=0

	for one; do
		after=$(cat "/proc/$one/stat" 2>/dev/null) || continue
		after=${after##*) }
		read -ra after <<<"$after"
		ticks=$((ticks + after[11] + after[12] + after[13] + after[14]))
	done
	echo $((ticks * 1000 / $(getconf CLK_TCK)))
}

# cpu_of_children PID: of the processes that it has started
cpu_of_children() {
	# shellcheck disable=SC2046  # they are words
	sum_cpu $(cat "/proc/$1/task/$1/children" 2>/dev/null)
}

# cpu_of PID: of it and of those
cpu_of() {
	# shellcheck disable=SC2046
	sum_cpu "$1" $(cat "/proc/$1/task/$1/children" 2>/dev/null)
}

# resident_of PID: KiB
resident_of() {
	awk '/^VmRSS/ { print $2 }' "/proc/$1/status"
}

# host_took: ticks that the host of a virtual machine gave to others while its CPUs had work, and of all work
host_took() {
	awk '/^cpu / { print $9, $2 + $3 + $4 + $7 + $8 + $9 }' /proc/stat
}

# kernel_side PID: KiB of its maps, ms that its programs ran (0 if nobody asked the kernel to count)
kernel_side() {
	cat "/proc/$1"/fdinfo/* 2>/dev/null | awk '
	/^map_type/ { map = 1 }
	/^prog_type/ { map = 0 }
	/^memlock/ && map { memory += $2 }
	/^run_time_ns/ { time += $2 }
	END { printf "%d %d\n", memory / 1024, time / 1e6 }'
}
