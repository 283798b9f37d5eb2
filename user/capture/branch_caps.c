/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the capabilities of PMUs from sysfs, and makes attributes that ask for branch stacks.
 *
 * Source: Documentation/ABI/testing/sysfs-bus-event_source-devices-caps.
 */
#include "capture/branch_caps.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "capture/capture.h"

#include <string.h>

enum { SYSFS_FILE_BYTES = 4096 };

/* The number in a file of a PMU. Returns false if there is none. */
static bool read_pmu_number(const char *sysfs, const char *pmu, const char *file, u32 *ret_number)
{
	CLEANUP(freep)
	char *path = must_format("%s/bus/event_source/devices/%s/%s", sysfs, pmu, file);
	CLEANUP(freep) char *text = NULL;

	if (file_read(path, SYSFS_FILE_BYTES, &text, NULL))
		return false;
	text[strcspn(text, "\n")] = 0;
	return !number_parse_u32(text, ret_number);
}

/* Whether the PMU of this name counts events of the type. Those that have no PMU of their own are
 * the CPU's, and hybrid CPUs have two. */
static bool is_pmu_of(const char *sysfs, const char *pmu, u32 type)
{
	u32 number;

	if (type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW)
		return !strcmp(pmu, "cpu") || !strcmp(pmu, "cpu_core");
	return read_pmu_number(sysfs, pmu, "type", &number) && number == type;
}

u32 branch_caps_depth(const char *sysfs, u32 type)
{
	CLEANUP(freep) char *path = must_format("%s/bus/event_source/devices", sysfs);
	CLEANUP(closedirp) DIR *folder = opendir(path);
	const struct dirent *entry;
	u32 depth = 0;

	while (folder && !depth && (entry = readdir(folder)))
		if (entry->d_name[0] != '.' && is_pmu_of(sysfs, entry->d_name, type) &&
		    !read_pmu_number(sysfs, entry->d_name, "caps/branches", &depth))
			depth = 0;
	return depth;
}

u32 branch_caps_depth_of_all(const struct capture_settings *settings)
{
	u32 most = 0;

	for (size_t i = 0; i < settings->event_count; i++) {
		u32 depth = branch_caps_depth("/sys", settings->events[i].type);

		if (!depth)
			return 0;
		most = depth > most ? depth : most;
	}
	return most;
}

void branch_caps_ask(const struct capture_settings *settings, struct perf_event_attr *attr)
{
	if (!settings->branch_bits)
		return;
	attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	attr->branch_sample_type = settings->branch_bits | settings->branch_extras;
}

bool branch_caps_ask_less(struct perf_event_attr *attr, u64 extras)
{
	/* In the order of their worth: what makes records shorter is left out last. */
	static const u64 steps[] = {PERF_SAMPLE_BRANCH_HW_INDEX,
				    PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES};

	for (size_t i = 0; i < ARRAY_COUNT(steps); i++) {
		u64 droppable = attr->branch_sample_type & extras & steps[i];

		attr->branch_sample_type &= ~droppable;
		if (droppable)
			return true;
	}
	return false;
}
