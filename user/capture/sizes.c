/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much a recording takes, by its settings and the CPUs there are, and whether it may.
 */
#include "capture/sizes.h"

#include "base/fail.h"
#include "bpfprof/aggregate.h"
#include "bpfprof/branch_stack.h"
#include "bpfprof/settings.h"
#include "host/host.h"

#include <errno.h>
#include <sys/resource.h>

enum {
	NS_PER_S = 1000000000,
	/* A sample of a stack of usual depth, and how long the reader may sleep. */
	SAMPLE_USUAL_BYTES = 512,
	BRANCHES_USUAL_BYTES = 32 * sizeof(u64) * BRANCH_ENTRY_WORDS,
	RING_HOLDS_NS = NS_PER_S / 2,
	RING_MIN_BYTES = 256 << 10,
	RING_MAX_BYTES = 16 << 20,
	/* The stack of a sample, and how long the largest files take to read. */
	STACK_USUAL_BYTES = 16 << 10,
	REST_RING_HOLDS_NS = NS_PER_S / 4,
	REST_RING_MIN_BYTES = 1 << 20,
	REST_RING_MAX_BYTES = 16 << 20,
	COUNT_SLOTS_MIN = AGGREGATE_PROBES,
	COUNT_SLOTS_MAX = 32768,
	COUNT_BYTES_DEFAULT = 256 << 20, /* of all CPUs */
	OTHER_FDS = 64,			 /* maps, programs, files, with room to spare */
	/* For events whose rate nobody knows. */
	UNKNOWN_RATE_HZ = 10000,
};

static u64 events_per_second(const struct capture_settings *settings)
{
	u64 sum = 0;

	for (size_t i = 0; i < settings->event_count; i++)
		sum += settings->events[i].is_frequency ? settings->events[i].rate
							: UNKNOWN_RATE_HZ;
	return sum;
}

static u64 within(u64 bytes, u64 least, u64 most)
{
	return bytes < least ? least : bytes > most ? most : bytes;
}

u64 sizes_ring_bytes(const struct capture_settings *settings, size_t cpu_count)
{
	u64 sample_bytes = SAMPLE_USUAL_BYTES + (settings->branch_bits ? BRANCHES_USUAL_BYTES : 0);
	u64 bytes = events_per_second(settings) * cpu_count * sample_bytes /
		    (NS_PER_S / RING_HOLDS_NS);

	if (settings->ring_bytes)
		return settings->ring_bytes;
	return within(bytes, RING_MIN_BYTES, RING_MAX_BYTES);
}

u64 sizes_rest_bytes(const struct capture_settings *settings, size_t cpu_count)
{
	u64 bytes = events_per_second(settings) * cpu_count * STACK_USUAL_BYTES /
		    (NS_PER_S / REST_RING_HOLDS_NS);

	return within(bytes, REST_RING_MIN_BYTES, REST_RING_MAX_BYTES);
}

u32 sizes_count_slots(const struct capture_settings *settings, size_t cpu_count)
{
	const u64 slot_bytes = AGGREGATE_WINDOWS *
			       (sizeof(struct count_entry) + sizeof(struct chain_hash));
	u64 window_ns = settings->window_ns ? settings->window_ns : AGGREGATE_WINDOW_NS;
	u64 most = settings->count_bytes ? settings->count_bytes : COUNT_BYTES_DEFAULT;
	u64 seconds = window_ns / NS_PER_S + 1, wanted = COUNT_SLOTS_MAX;
	u32 slots = COUNT_SLOTS_MIN;

	if (seconds < wanted)
		wanted = events_per_second(settings) * seconds;
	while (slots < COUNT_SLOTS_MAX && slots < wanted &&
	       (2 * slots * slot_bytes + sizeof(struct chain_log)) * cpu_count <= most)
		slots *= 2;
	return slots;
}

int sizes_check_depth(u32 max_stack)
{
	if (max_stack >= 1 && max_stack <= STACK_MAX_FRAMES)
		return 0;
	return fail_plain(-EINVAL, NULL, "cannot take stacks of %u frames: 1 to %d are possible",
			  max_stack, STACK_MAX_FRAMES);
}

u16 sizes_kernel_depth(void)
{
	long limit;

	if (sysctl_read("kernel/perf_event_max_stack", &limit) || limit > UINT16_MAX)
		return UINT16_MAX;
	return (u16)limit;
}

u32 sizes_unwind_segments(const struct capture_settings *settings)
{
	u64 bytes = settings->unwind_bytes ? settings->unwind_bytes : UNWIND_BYTES_DEFAULT;

	return bytes < UNWIND_BYTES_MIN ? 1 : (u32)(bytes / UNWIND_SEGMENT_BYTES);
}

int sizes_allow_descriptors(const struct capture_settings *settings, size_t cpu_count)
{
	rlim_t needed = (settings->event_count + 1) * cpu_count + sizes_unwind_segments(settings) +
			OTHER_FDS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= needed)
		return 0;
	if (limit.rlim_max < needed)
		return fail_plain(
			-EMFILE, "raise it with `ulimit -n`, or name fewer events",
			"cannot open %zu events on %zu CPUs: the limit is %llu descriptors",
			settings->event_count, cpu_count, (unsigned long long)limit.rlim_max);
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) ? fail(-errno, NULL, "cannot raise `ulimit -n`")
						: 0;
}
