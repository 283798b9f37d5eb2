/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What programs that a test plays have counted.
 */
#ifndef TESTS_KERNEL_COUNTER_SUM_H
#define TESTS_KERNEL_COUNTER_SUM_H

#include "bpfprof/event.h"
#include "unit/unit.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

/* A counter of all CPUs, out of the map `counters`. */
static inline u64 counter_sum(const struct bpf_map *map, u32 counter)
{
	struct cpu_counters counters;
	u64 sum = 0;

	for (u32 cpu = 0; cpu < (u32)libbpf_num_possible_cpus(); cpu++) {
		assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(map), &cpu, &counters), 0);
		sum += counters.counts[counter];
	}
	return sum;
}

#endif
