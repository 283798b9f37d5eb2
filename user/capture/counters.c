/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adds up the counters.
 */
#include "capture/counters.h"

void counters_sum(const struct cpu_counters *cpus, u32 cpu_count, struct capture_totals *totals)
{
	for (u32 cpu = 0; cpu < cpu_count; cpu++) {
		for (u32 i = 0; i < COUNTER_COUNT; i++)
			totals->counters[i] += cpus[cpu].counts[i];
		for (u32 i = 0; i < SOURCES_MAX; i++)
			totals->counters[COUNTER_overflows] += cpus[cpu].overflows[i];
	}
}
