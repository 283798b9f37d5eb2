/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sample waits with its rest and with the mappings that its process had when it was taken: what
 * the process does afterwards, also exec(), does not matter.
 */
#include "capture/late_stacks.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/vec.h"
#include "capture/late_code.h"

#include <string.h>

/* How long a sample may wait. */
static const u64 patience_ns = 1000000000;

enum { WAITING_BYTES_MAX = 32 << 20 };

/* A sample that waits. */
struct waiting {
	struct sample sample;
	struct frame *frames; /* the sample's, with room for more */
	struct branch *branches;
	struct stack_rest *rest;
	struct late_process process; /* as it was then, once it is known */
	struct copied_walk walk;
	u64 *found; /* the walk's frames */
};

struct late_stacks {
	struct event_sink samples;
	struct event_sink *next;
	struct unwind_tables *tables;
	struct late_code *code;
	VEC(struct stack_rest *) rests; /* whose sample has not come yet */
	VEC(struct waiting) waiting;	/* the first `placed` ones know their mappings */
	size_t placed;
	u64 bytes; /* of all rests and their samples */
	u32 max_stack;
	u64 too_many;
	u64 cuts[CUT_BROKEN + 1]; /* how many more than the programs have counted; may be below 0 */
};

/* --- samples --- */

static struct late_stacks *of_samples(struct event_sink *sink)
{
	return (struct late_stacks *)sink; /* it is the first member */
}

/* Where the rest of a sample's stack is among those that have come; their count if it has not. */
static size_t find_rest(const struct late_stacks *late, u64 time_ns, u32 tid)
{
	size_t i = 0;

	while (i < late->rests.count &&
	       (late->rests.items[i]->time_ns != time_ns || late->rests.items[i]->tid != tid))
		i++;
	return i;
}

static size_t rest_bytes(const struct stack_rest *rest)
{
	return offsetof(struct stack_rest, stack) + rest->stack_bytes;
}

/* What a sample takes while it waits, kernel frames as deep as user frames, with its rest. */
static size_t waiting_bytes(const struct late_stacks *late, const struct stack_rest *rest)
{
	return sizeof(struct waiting) + rest_bytes(rest) +
	       late->max_stack * (2 * sizeof(struct frame) + sizeof(u64));
}

/* Puts more of a stack behind what there is, if it goes on there. */
static void extend_rest(struct stack_rest **rest, const struct stack_rest *more)
{
	size_t bytes = rest_bytes(*rest);

	if (more->stack_start != (*rest)->stack_start + (*rest)->stack_bytes)
		return;
	*rest = must_resize_array(*rest, bytes + more->stack_bytes, 1);
	memcpy((u8 *)*rest + bytes, more->stack, more->stack_bytes);
	(*rest)->stack_bytes += more->stack_bytes;
}

void late_stacks_take_rest(struct late_stacks *late, const struct stack_rest *rest)
{
	size_t row = find_rest(late, rest->time_ns, rest->tid);
	struct stack_rest **place;

	if (late->bytes + waiting_bytes(late, rest) > WAITING_BYTES_MAX) {
		late->too_many++;
		return;
	}
	if (row == late->rests.count) {
		*vec_add(&late->rests) = (void *)must_copy_bytes(rest, rest_bytes(rest));
		late->bytes += waiting_bytes(late, rest);
		return;
	}
	place = &late->rests.items[row];
	late->bytes -= rest_bytes(*place);
	extend_rest(place, rest);
	late->bytes += rest_bytes(*place);
}

static void free_rest(struct late_stacks *late, struct stack_rest *rest)
{
	late->bytes -= waiting_bytes(late, rest);
	free(rest);
}

/* The rest of a sample's stack out of those that have come; NULL if there is none. */
static struct stack_rest *take_rest_of(struct late_stacks *late, const struct sample *sample)
{
	size_t row = find_rest(late, sample->time_ns, sample->tid);
	struct stack_rest *rest;

	if (row == late->rests.count)
		return NULL;
	rest = late->rests.items[row];
	late->rests.items[row] = late->rests.items[--late->rests.count];
	return rest;
}

static int keep_sample(struct event_sink *self, const struct sample *sample)
{
	struct late_stacks *late = of_samples(self);
	struct stack_rest *rest = late->rests.count ? take_rest_of(late, sample) : NULL;
	u32 before = sample_kernel_frames(sample), most = late->max_stack;
	struct waiting *waiting;

	if (!rest)
		return sink_call(late->next, on_sample, sample);
	waiting = vec_add(&late->waiting);
	*waiting = (struct waiting){.sample = *sample, .rest = rest};
	waiting->frames = must_alloc_array(before + most + 1U, sizeof(*waiting->frames));
	memcpy(waiting->frames, sample->frames, sample->frame_count * sizeof(*waiting->frames));
	waiting->sample.frames = waiting->frames;
	waiting->branches = must_alloc_array(sample->branch_count + 1U, sizeof(*waiting->branches));
	if (sample->branch_count)
		memcpy(waiting->branches, sample->branches,
		       sample->branch_count * sizeof(*waiting->branches));
	waiting->sample.branches = waiting->branches;
	most -= rest->user_frames < most ? rest->user_frames : most;
	waiting->found = must_alloc_array(most + 1U, sizeof(*waiting->found));
	waiting->walk = copied_walk_begin(rest, waiting->found, most);
	return 0;
}

struct event_sink *late_stacks_samples(struct late_stacks *late, struct event_sink *next)
{
	late->next = next;
	return &late->samples;
}

struct event_sink *late_stacks_processes(struct late_stacks *late)
{
	return late_code_sink(late->code);
}

static int compare_waiting(const void *left, const void *right)
{
	u64 a = ((const struct waiting *)left)->sample.time_ns;
	u64 b = ((const struct waiting *)right)->sample.time_ns;

	return a < b ? -1 : a > b;
}

bool late_stacks_want_processes(const struct late_stacks *late)
{
	return late && late->placed < late->waiting.count;
}

int late_stacks_drain_side_band(struct late_stacks *late, struct side_band *side_band, u64 until_ns,
				struct event_sink *sink)
{
	int error = 0;

	if (late && late->placed < late->waiting.count)
		qsort(late->waiting.items + late->placed, late->waiting.count - late->placed,
		      sizeof(*late->waiting.items), compare_waiting);
	while (!error && late && late->placed < late->waiting.count) {
		struct waiting *waiting = &late->waiting.items[late->placed++];

		error = side_band_drain(side_band, waiting->sample.time_ns + 1, sink);
		waiting->process = late_process_of(late->code, waiting->sample.pid);
	}
	return error ? error : side_band_drain(side_band, until_ns, sink);
}

/* --- walking on --- */

/* Puts what has been found into the sample, if that is more than it has. */
static void complete(struct late_stacks *late, struct waiting *waiting, u8 end)
{
	const struct copied_walk *walk = &waiting->walk;
	struct sample *sample = &waiting->sample;
	u32 before = sample_kernel_frames(sample) + waiting->rest->user_frames;

	if (before + walk->count <= sample->frame_count && end != END_COMPLETE)
		return;
	for (u32 i = 0; i < walk->count; i++)
		waiting->frames[before + i] = (struct frame){
			.address = walk->frames[i],
			.space = SPACE_USER,
			.origin = ORIGIN_UNKNOWN,
		};
	late->cuts[sample->cut]--;
	late->cuts[end]++;
	sample->frame_count = (u16)(before + walk->count);
	sample->cut = end;
	sample->walked = walk->walked ? walk->walked : WALK_EH_FRAME;
}

/* Returns whether the walk is over. */
static bool walk_on(struct late_stacks *late, struct waiting *waiting)
{
	struct copied_walk_world world = late_process_world(&waiting->process);
	u8 end;

	if (!waiting->process.mappings)
		return true;
	end = copied_walk_go_on(&waiting->walk, &world);
	if (end == WALK_AWAITS)
		return false;
	complete(late, waiting, end);
	return true;
}

static void waiting_release(struct late_stacks *late, struct waiting *waiting)
{
	late_process_release(&waiting->process);
	free_rest(late, waiting->rest);
	free(waiting->frames);
	free(waiting->branches);
	free(waiting->found);
}

/* Whether what was taken at that time has waited long enough. */
static bool is_due(u64 time_ns, u64 now_ns)
{
	return now_ns > time_ns && now_ns - time_ns >= patience_ns;
}

/* Forgets rests whose samples found no room in the ring. */
static void forget_strays(struct late_stacks *late, u64 now_ns)
{
	for (size_t i = late->rests.count; i--;) {
		struct stack_rest *rest = late->rests.items[i];

		if (!is_due(rest->time_ns, now_ns))
			continue;
		late->rests.items[i] = late->rests.items[--late->rests.count];
		free_rest(late, rest);
	}
}

int late_stacks_work(struct late_stacks *late, u64 now_ns)
{
	size_t left = 0;
	int error = 0;

	if (!late->waiting.count)
		late_code_tend(late->code);
	if (!late->waiting.count && !late->rests.count)
		return 0;
	forget_strays(late, now_ns);
	for (size_t i = 0; i < late->waiting.count; i++) {
		struct waiting *waiting = &late->waiting.items[i];

		if (i >= late->placed ||
		    (!walk_on(late, waiting) && !is_due(waiting->sample.time_ns, now_ns))) {
			late->waiting.items[left++] = *waiting;
			continue;
		}
		if (!error)
			error = sink_call(late->next, on_sample, &waiting->sample);
		waiting_release(late, waiting);
	}
	late->placed -= late->waiting.count - left;
	late->waiting.count = left;
	if (!left)
		unwind_tables_stop_reading(late->tables);
	return error;
}

int late_stacks_finish(struct late_stacks *late)
{
	u64 start_ns = clock_ns(CLOCK_MONOTONIC), now_ns = start_ns;
	int error = 0;

	while (!error && late->waiting.count && now_ns - start_ns < patience_ns) {
		unwind_tables_work(late->tables, now_ns);
		error = late_stacks_work(late, now_ns);
		now_ns = clock_ns(CLOCK_MONOTONIC);
	}
	return error ? error : late_stacks_work(late, ~0ULL);
}

u64 late_stacks_round_ns(const struct late_stacks *late, u64 time_ns)
{
	for (size_t i = 0; late && i < late->waiting.count; i++)
		if (late->waiting.items[i].sample.time_ns < time_ns)
			time_ns = late->waiting.items[i].sample.time_ns;
	return time_ns;
}

/* --- opening --- */

struct late_stacks *late_stacks_new(struct unwind_tables *tables, u32 max_stack)
{
	struct late_stacks *late = must_alloc(sizeof(*late));

	late->samples = (struct event_sink){.on_sample = keep_sample};
	late->tables = tables;
	late->code = late_code_new(tables);
	late->max_stack = max_stack;
	return late;
}

void late_stacks_free(struct late_stacks *late)
{
	if (!late)
		return;
	for (size_t i = 0; i < late->waiting.count; i++)
		waiting_release(late, &late->waiting.items[i]);
	for (size_t i = 0; i < late->rests.count; i++)
		free(late->rests.items[i]);
	vec_release(&late->waiting);
	vec_release(&late->rests);
	late_code_free(late->code);
	free(late);
}

void late_stacks_totals(const struct late_stacks *late, u64 *counters)
{
	static const u8 counter_of[] = {
		[CUT_COMPLETE] = COUNTER_user_stacks_whole,
		[CUT_TOO_DEEP] = COUNTER_user_stack_too_deep,
		[CUT_UNREADABLE] = COUNTER_user_stack_failed,
		[CUT_NO_TABLE] = COUNTER_user_stack_no_table,
		[CUT_UNSUPPORTED] = COUNTER_user_stack_unsupported,
		[CUT_NOT_ANALYSED] = COUNTER_user_stack_not_analysed,
		[CUT_BROKEN] = COUNTER_user_stack_broken,
	};

	for (u32 cut = 0; cut < ARRAY_COUNT(counter_of); cut++)
		if (counter_of[cut])
			counters[counter_of[cut]] += late->cuts[cut];
	counters[COUNTER_stack_not_kept] += late->too_many;
}
