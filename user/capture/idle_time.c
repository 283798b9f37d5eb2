/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the idle columns of /proc/stat.
 */
#include "capture/idle_time.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>

enum {
	NS_PER_TICK = 10000000, /* /proc/stat counts in USER_HZ, 100 on all our architectures */
	LINE_BYTES = 512,
	STAT_LIMIT_BYTES = 4 << 20,
};

/* The line of the sum over all CPUs has a blank where others have their number.
 * Source: proc(5): cpuN user nice system idle iowait … */
static void parse_line(const char *line, u64 *ret_ns, u32 cpu_count)
{
	unsigned long long idle, waiting;
	unsigned int cpu;

	if (strncmp(line, "cpu ", 4) &&
	    sscanf(line, "cpu%u %*u %*u %*u %llu %llu", &cpu, &idle, &waiting) == 3 &&
	    cpu < cpu_count)
		ret_ns[cpu] = (idle + waiting) * NS_PER_TICK;
}

void idle_time_parse(struct bytes text, u64 *ret_ns, u32 cpu_count)
{
	struct cursor cursor = cursor_of(text);
	char line[LINE_BYTES];

	memset(ret_ns, 0, cpu_count * sizeof(*ret_ns));
	while (cursor_left(&cursor)) {
		const u8 *end = memchr(cursor.next, '\n', cursor_left(&cursor));
		size_t length = end ? (size_t)(end - cursor.next) : cursor_left(&cursor);
		size_t kept = length < sizeof(line) - 1 ? length : sizeof(line) - 1;

		memcpy(line, cursor.next, kept);
		line[kept] = 0;
		parse_line(line, ret_ns, cpu_count);
		cursor.next += length + (end ? 1 : 0);
	}
}

void idle_time_read(u64 *ret_ns, u32 cpu_count)
{
	CLEANUP(freep) char *text = NULL;
	size_t length = 0;

	if (file_read("/proc/stat", STAT_LIMIT_BYTES, &text, &length))
		length = 0;
	idle_time_parse((struct bytes){.start = (const u8 *)text, .length = length}, ret_ns,
			cpu_count);
}
