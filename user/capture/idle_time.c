/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the idle columns of /proc/stat.
 */
#include "capture/idle_time.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/words.h"

enum {
	NS_PER_TICK = 10000000, /* /proc/stat counts in USER_HZ, 100 on all our architectures */
	STAT_LIMIT_BYTES = 4 << 20,
};

/* "cpuN user nice system idle iowait …", as in proc(5). The line of the sum over all CPUs has no
 * number. */
static void parse_line(struct bytes line, u64 *ret_ns, u32 cpu_count)
{
	struct bytes name = word_take(&line, ' ');
	u64 cpu, idle, waiting;

	if (!word_drop(&name, "cpu") || !word_number(name, 10, &cpu) || cpu >= cpu_count)
		return;
	for (int column = 0; column < 3; column++)
		word_take(&line, ' ');
	if (word_number(word_take(&line, ' '), 10, &idle) &&
	    word_number(word_take(&line, ' '), 10, &waiting))
		ret_ns[cpu] = (idle + waiting) * NS_PER_TICK;
}

void idle_time_parse(struct bytes text, u64 *ret_ns, u32 cpu_count)
{
	memset(ret_ns, 0, cpu_count * sizeof(*ret_ns));
	while (text.length)
		parse_line(word_take(&text, '\n'), ret_ns, cpu_count);
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
