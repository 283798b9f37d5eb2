/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The CPU lists that the kernel keeps in sysfs.
 */
#include "host/cpus.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "host/seen_text.h"

#include <string.h>
#include <unistd.h>

#define FOLDER "/sys/devices/system/cpu/"

enum {
	HIGHEST_CPU = 65535, /* far above CONFIG_NR_CPUS of any distribution */
	LIST_BYTES = 65536,
};

/* Reads "0-3,8" from a file of /sys/devices/system/cpu. */
static int read_list(const char *name, u32 **ret_cpus, size_t *ret_count)
{
	CLEANUP(freep) char *path = must_format(FOLDER "%s", name);
	CLEANUP(freep) char *text = NULL;
	int error = file_read(path, LIST_BYTES, &text, NULL);

	if (error)
		return error;
	text[strcspn(text, "\n")] = 0;
	return number_parse_list(text, HIGHEST_CPU, ret_cpus, ret_count);
}

int cpus_online(u32 **ret_cpus, size_t *ret_count)
{
	int error = read_list("online", ret_cpus, ret_count);

	if (error)
		return fail(error, "mount sysfs on /sys", "cannot tell which CPUs are online");
	return 0;
}

u32 cpus_present(void)
{
	CLEANUP(freep) u32 *cpus = NULL;
	long configured = sysconf(_SC_NPROCESSORS_CONF);
	size_t count;

	if (!read_list("present", &cpus, &count) && count)
		return cpus[count - 1] + 1;
	return configured > 0 ? (u32)configured : 1;
}

struct cpus_watch {
	struct seen_text online;
	struct seen_text uevents; /* how many of them the kernel has told since it runs */
	u64 asleep_ns;
};

struct cpus_watch *cpus_watch_new(void)
{
	struct cpus_watch *watch = must_alloc(sizeof(*watch));

	seen_text_open(&watch->online, FOLDER "online");
	seen_text_open(&watch->uevents, UEVENT_COUNT);
	return watch;
}

bool cpus_watch_changed(struct cpus_watch *watch)
{
	return seen_text_changed(&watch->online);
}

/* The kernel tells a uevent of each CPU that goes or comes, but not of those that a suspend takes
 * off and puts on again: Documentation/core-api/cpu_hotplug.rst; kernel/cpu.c,
 * thaw_secondary_cpus(). While the machine sleeps only one of the two clocks stands still. */
bool cpus_watch_may_be_back(struct cpus_watch *watch)
{
	enum { BETWEEN_READINGS_NS = 1000000 };
	u64 awake_ns = clock_ns(CLOCK_MONOTONIC);
	u64 asleep_ns = clock_ns(CLOCK_BOOTTIME) - awake_ns;
	bool has_slept = asleep_ns > watch->asleep_ns + BETWEEN_READINGS_NS;

	watch->asleep_ns = asleep_ns;
	return seen_text_changed(&watch->uevents) || has_slept;
}

void cpus_watch_free(struct cpus_watch *watch)
{
	if (!watch)
		return;
	seen_text_close(&watch->online);
	seen_text_close(&watch->uevents);
	free(watch);
}
