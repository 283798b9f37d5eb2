/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording that counts samples in the kernel: what it needs, and its windows.
 */
#include "base/clock.h"
#include "base/fail.h"
#include "capture/capture_state.h"
#include "capture/late_stacks.h"
#include "capture/ring.h"
#include "capture/side_band.h"
#include "capture/sizes.h"
#include "host/host.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/random.h>

/* A file that was found is not looked at again so soon; where its path leads to it, it will be
 * looked at when what mapped it is told. */
static const u64 looked_ns = 1000000000, in_place_ns = 30000000000;

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
	/* Worth the time it takes to find them only for what goes on for long. */
	settings->kernel_rules = kernel_rules_here();
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

/* Samples first: those that wait for a table learn what was mapped when they were taken. */
int capture_drain_until(struct capture *capture, u64 until_ns)
{
	struct event_sink *samples = capture->sink;
	int error;

	if (capture->late_stacks)
		samples = late_stacks_samples(capture->late_stacks, capture->sink);
	if (capture->counting)
		counting_read_logs(capture->counting);
	error = ring_drain(capture->ring, samples);
	return error ? error : capture_drain_side_band(capture, until_ns);
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
	capture->has_turned = true;
	return error;
}

/* --- processes of which samples tell later --- */

/* Passes a mapping on, and says whether its file was identified. */
struct looking {
	struct event_sink sink;
	struct event_sink *next; /* NULL: nobody */
	bool is_identified;
};

static int note_identified(struct event_sink *self, const struct mapping *mapping)
{
	struct looking *looking = (struct looking *)self; /* it is the first member */

	looking->is_identified = mapping->build_id_bytes > 0;
	return looking->next ? sink_call(looking->next, on_mapping, mapping) : 0;
}

/* What must be asked of a file while its process lives is asked now: its build id, and its path in
 * case that its table is wanted. Most of what is mapped are the same few files. */
static int look_at_file(struct capture *capture, const void *record, size_t bytes)
{
	struct looking looking = {.sink.on_mapping = note_identified, .next = capture->tables_sink};
	u64 file = side_band_file(capture->side_band, record, bytes);
	struct looked_file *looked = &capture->looked[file % LOOKED_FILES];
	u64 now_ns = side_band_time(record, bytes);
	int error;

	if (file && looked->file == file && now_ns < looked->until_ns)
		return 0;
	error = side_band_tell(capture->side_band, record, bytes, &looking.sink);
	now_ns += file_ids_found_in_place(capture->files) ? in_place_ns : looked_ns;
	*looked = (struct looked_file){looking.is_identified ? file : 0, now_ns};
	return error;
}

static int keep_record(void *context, const void *record, size_t bytes)
{
	struct capture *capture = context;
	const struct perf_event_header *header = record;

	if (!side_log_keep(capture->side_log, record, bytes))
		return side_band_tell(capture->side_band, record, bytes, capture->sink);
	return header->type == PERF_RECORD_MMAP2 ? look_at_file(capture, record, bytes) : 0;
}

/* No stack waits for what a process had mapped that is over. */
static int tell_record(void *context, const void *record, size_t bytes, bool is_over)
{
	struct capture *capture = context;

	return side_band_tell(capture->side_band, record, bytes,
			      is_over ? capture->over_sink : capture->sink);
}

int capture_tell_kept(struct capture *capture)
{
	file_ids_tell_time(capture->files, clock_ns(CLOCK_MONOTONIC));
	return capture->side_log ? side_log_tell_all(capture->side_log, tell_record, capture) : 0;
}

/* A sample that waits for a table needs all that is known of its process now. */
int capture_drain_side_band(struct capture *capture, u64 until_ns)
{
	bool keeps = capture->side_log && !late_stacks_want_processes(capture->late_stacks);
	int error;

	if (keeps)
		return side_band_each(capture->side_band, until_ns, keep_record, capture);
	error = capture_tell_kept(capture);
	return error ? error
		     : late_stacks_drain_side_band(capture->late_stacks, capture->side_band,
						   until_ns, capture->sink);
}

int capture_tell_side_log(struct capture *capture)
{
	u64 known_ns = capture->is_stopped ? ~0ULL : counting_round_ns(capture->counting, ~0ULL);

	if (!capture->side_log || !capture->has_turned)
		return 0;
	capture->has_turned = false;
	file_ids_tell_time(capture->files, clock_ns(CLOCK_MONOTONIC));
	return side_log_tell_sampled(capture->side_log, known_ns, tell_record, capture);
}

bool capture_wants_turn(const struct capture *capture)
{
	return capture->side_log &&
	       side_log_bytes(capture->side_log) >= capture->settings.kept_bytes;
}

int capture_turn(struct capture *capture)
{
	int error = capture->counting && !capture->is_stopped ? capture_drain_counts(capture, 0)
							      : 0;

	return error ? error : capture_drain(capture);
}
