/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording that counts samples in the kernel: what it needs, and its windows.
 */
#include "base/fail.h"
#include "capture/capture_state.h"
#include "capture/ring.h"
#include "capture/sizes.h"

#include <errno.h>
#include <sys/random.h>

/* CPUs that may come later with higher numbers have no tables: their samples come one by one. */
static u32 count_cpus(const struct capture *capture)
{
	u32 count = 0;

	for (size_t i = 0; i < capture->online_count; i++)
		if (capture->online[i] >= count)
			count = capture->online[i] + 1;
	return count;
}

int capture_plan_counting(const struct capture *capture, struct program_settings *settings)
{
	if (!capture->settings.aggregate)
		return 0;
	if (capture->settings.branch_bits || capture->settings.on_proof)
		return fail_plain(-EINVAL, "record them without counting",
				  "cannot count samples that differ all in what they bring besides "
				  "their stacks");
	settings->count_cpus = count_cpus(capture);
	settings->count_slots = sizes_count_slots(&capture->settings, settings->count_cpus);
	if (getrandom(&settings->hash_seed, sizeof(settings->hash_seed), 0) < 0)
		return fail(-errno, NULL, "cannot get random bytes");
	return 0;
}

static void take_chain(void *context, u32 window, const struct sample_header *header,
		       const u64 *frames)
{
	counting_take_chain(context, window, header, frames);
}

int capture_open_counting(struct capture *capture)
{
	struct count_maps maps = programs_count_maps(capture->programs);
	int error;

	if (!maps.slots)
		return 0;
	error = counting_open(&maps, capture->settings.call_graph != CALL_GRAPH_NONE,
			      &capture->counting);
	if (!error)
		ring_take_chains(capture->ring, take_chain, capture->counting);
	return error;
}

int capture_drain_counts(struct capture *capture, u64 until_ns)
{
	int error = capture->counting ? counting_turn(capture->counting) : 0;

	if (capture->counting && capture->cgroups)
		cgroup_teller_turn(capture->cgroups);
	if (!error) /* the chains too */
		error = capture_drain_until(capture, until_ns);
	if (!error && capture->counting)
		error = counting_hand_over(capture->counting, capture->sink);
	return error;
}

int capture_turn(struct capture *capture)
{
	int error = capture->counting && !capture->is_stopped ? capture_drain_counts(capture, 0)
							      : 0;

	return error ? error : capture_drain(capture);
}
