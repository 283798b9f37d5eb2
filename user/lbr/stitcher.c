/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sink: takes samples apart, lets their stacks be found, puts them together again.
 */
#include "base/memory.h"
#include "base/vec.h"
#include "lbr/extend.h"
#include "lbr/lbr.h"
#include "lbr/likely.h"
#include "lbr/memo.h"
#include "lbr/tally.h"

#include <errno.h>
#include <stddef.h>

/* PERF_SAMPLE_BRANCH_CALL_STACK, include/uapi/linux/perf_event.h */
static const u64 branch_call_stack = 1 << 11;

enum { LEARNED_MAX = 1 << 14 }; /* stacks: 2% of the time that a report of a million takes */

struct lbr_stitcher {
	struct passing_sink passing; /* first: stitcher_of() */
	struct event_sink learning;
	struct lbr_settings settings;
	const struct event_source *sources;
	size_t source_count;
	struct process_table *processes;
	struct places *places;
	struct graph *graph;
	struct threads *threads;
	struct lbr_tally tally;
	struct stack stack;
	VEC(struct frame) frames; /* of the sample at hand */
	VEC(u64) calls;
	struct likely *likely; /* NULL: only what is certain */
	struct memo *memo;
	struct memo_stack shown; /* the sample's callers; no calls: see `calls` */
	u32 deepest;		 /* snapshot so far */
	u32 learned;		 /* stacks in the learning sink */
	bool is_learning;	 /* the learning sink has heard something since the other one */
	bool has_learned_all;	 /* nothing new can come */
};

bool lbr_is_recorded(const struct event_source *source)
{
	return source->has_branches && (source->branch_bits & branch_call_stack);
}

static struct lbr_stitcher *stitcher_of(struct event_sink *sink)
{
	return (struct lbr_stitcher *)sink;
}

static struct lbr_stitcher *stitcher_of_learning(struct event_sink *sink)
{
	return (struct lbr_stitcher *)((char *)sink - offsetof(struct lbr_stitcher, learning));
}

/* --- one sample --- */

static bool has_call_stack(const struct lbr_stitcher *stitcher, const struct sample *sample)
{
	return sample->source < stitcher->source_count &&
	       lbr_is_recorded(&stitcher->sources[sample->source]);
}

static void add_frame(struct lbr_stitcher *stitcher, u64 address, u8 origin)
{
	*vec_add(&stitcher->frames) = (struct frame){
		.address = address, .space = SPACE_USER, .origin = origin};
}

static void copy_frames(struct lbr_stitcher *stitcher, const struct frame *frames, u32 count)
{
	for (u32 i = 0; i < count; i++)
		*vec_add(&stitcher->frames) = frames[i];
}

/* perf takes the leaf from where the newest call led, which is another function after a tail jump.
 * Where there is no entry it has no leaf either (or, callees first, perf 6.1 takes it from what
 * lies behind the record). */
static void show_plain(struct lbr_stitcher *stitcher, const struct sample *sample)
{
	if (!sample->branch_count)
		return;
	add_frame(stitcher, sample->branches[0].to, ORIGIN_LBR);
	for (u32 i = 0; i < sample->branch_count; i++) {
		add_frame(stitcher, sample->branches[i].from, ORIGIN_LBR);
		*vec_add(&stitcher->calls) = sample->branches[i].from;
	}
}

/* How many registers there are: what a header says can be wrong. */
static u32 depth_of(const struct lbr_stitcher *stitcher)
{
	u32 depth = 8;

	if (stitcher->settings.depth && stitcher->settings.depth >= stitcher->deepest &&
	    stitcher->settings.depth <= LENGTHS_MAX)
		return stitcher->settings.depth;
	while (depth < stitcher->deepest && depth < LENGTHS_MAX)
		depth *= 2;
	return depth;
}

static struct snapshot snapshot_of(struct lbr_stitcher *stitcher, const struct sample *sample,
				   u32 kernel)
{
	return (struct snapshot){
		.pid = sample->pid,
		.tid = sample->tid,
		.time_ns = sample->time_ns,
		.leaf = sample->frames[kernel].address,
		.leaf_place = places_find(stitcher->places, sample->pid,
					  sample->frames[kernel].address),
		.callers = sample->frames + kernel + 1,
		.caller_count = sample->frame_count - kernel - 1,
		.is_unwound = sample->walked & WALK_EH_FRAME,
		.entries = sample->branches,
		.entry_count = sample->branch_count,
		.hw_idx = sample->hw_idx,
		.depth = depth_of(stitcher),
	};
}

static void show_stack(struct lbr_stitcher *stitcher, u64 leaf, const struct memo_stack *stack)
{
	struct frame *frames;

	add_frame(stitcher, leaf, ORIGIN_UNKNOWN);
	vec_reserve(&stitcher->frames, stack->count);
	frames = stitcher->frames.items + stitcher->frames.count;
	for (u32 i = 0; i < stack->count; i++)
		frames[i] = memo_frame(stack->calls[i]);
	stitcher->frames.count += stack->count;
	stitcher->shown = *stack;
}

/* --- learning --- */

static void learn(struct lbr_stitcher *stitcher, const struct snapshot *snapshot)
{
	const struct stack *stack = &stitcher->stack;
	struct thread_facts *thread = threads_at(stitcher->threads, snapshot->tid);

	if (thread)
		thread_learn(thread, stitcher->places, snapshot, stack);
	for (u32 i = 0; i < stack->count; i++)
		graph_add(stitcher->graph, stack_frame(snapshot, stack, i), stack->calls[i].entry,
			  stack->calls[i].place);
	if (stack->end == LBR_END_WHOLE)
		graph_add_outermost(stitcher->graph, stack_frame(snapshot, stack, stack->count));
}

static void extend(struct lbr_stitcher *stitcher, const struct snapshot *snapshot)
{
	struct stack *stack = &stitcher->stack;
	struct thread_facts *thread = threads_at(stitcher->threads, snapshot->tid);
	struct extension extension = {stitcher->places, stitcher->graph, thread, snapshot, stack};

	if (!thread || !thread_is_balanced(thread) ||
	    (stack->end != LBR_END_OVERWRITTEN && stack->end != LBR_END_EMPTY))
		return;
	if (stitcher->has_learned_all)
		graph_solve(stitcher->graph, snapshot->depth);
	extend_to_start(&extension);
}

static int take_loss(struct event_sink *sink, const struct loss *loss)
{
	struct lbr_stitcher *stitcher = stitcher_of(sink);

	if (stitcher->likely)
		likely_forget(stitcher->likely);
	return sink_call(stitcher->passing.next, on_loss, loss);
}

static int learn_sample(struct event_sink *sink, const struct sample *sample)
{
	struct lbr_stitcher *stitcher = stitcher_of_learning(sink);
	u32 kernel = sample_kernel_frames(sample);
	struct snapshot snapshot;

	stitcher->is_learning = true;
	if (stitcher->learned == LEARNED_MAX)
		return -ECANCELED;
	if (!has_call_stack(stitcher, sample) || kernel == sample->frame_count ||
	    stitcher->settings.tier == LBR_PLAIN)
		return 0;
	if (sample->branch_count > stitcher->deepest)
		stitcher->deepest = sample->branch_count;
	snapshot = snapshot_of(stitcher, sample, kernel);
	walk(stitcher->places, &snapshot, &stitcher->stack);
	learn(stitcher, &snapshot);
	stitcher->learned++;
	return 0;
}

/* What a result depends on besides the snapshot. */
static u64 variant_of(const struct lbr_stitcher *stitcher, const struct snapshot *snapshot)
{
	struct thread_facts *thread = threads_at(stitcher->threads, snapshot->tid);
	u64 variant = places_generation(stitcher->places, snapshot->pid);

	if (thread)
		variant = variant << 32 | thread->id << 1 |
			  thread_has_constant(thread, snapshot->time_ns);
	return variant;
}

static void find_new_stack(struct lbr_stitcher *stitcher, const struct snapshot *snapshot)
{
	walk(stitcher->places, snapshot, &stitcher->stack);
	if (!stitcher->has_learned_all) {
		learn(stitcher, snapshot);
		if (graph_settle(stitcher->graph, snapshot->depth))
			memo_clear(stitcher->memo);
	}
	extend(stitcher, snapshot);
}

static void extend_likely(struct lbr_stitcher *stitcher, const struct snapshot *snapshot,
			  struct memo_stack *stack)
{
	struct thread_facts *thread = threads_at(stitcher->threads, snapshot->tid);

	if (!thread || !thread_is_balanced(thread))
		return;
	stitcher->tally.likely += likely_extend(stitcher->likely, thread->id, snapshot, stack);
}

static void find_stack(struct lbr_stitcher *stitcher, const struct sample *sample, u32 kernel,
		       struct sample *changed)
{
	struct memo_stack stack;
	struct snapshot snapshot;
	u64 key;

	if (sample->branch_count > stitcher->deepest)
		stitcher->deepest = sample->branch_count;
	snapshot = snapshot_of(stitcher, sample, kernel);
	key = memo_key(&snapshot, places_at(stitcher->places, snapshot.leaf_place),
		       variant_of(stitcher, &snapshot));
	if (!memo_get(stitcher->memo, key, &stack)) {
		find_new_stack(stitcher, &snapshot);
		memo_put(stitcher->memo, key, &stitcher->stack, &stack);
	}
	if (stitcher->likely)
		extend_likely(stitcher, &snapshot, &stack);
	lbr_tally_add(&stitcher->tally, &stack, snapshot.entry_count);
	show_stack(stitcher, snapshot.leaf, &stack);
	changed->cut = lbr_cut_of(stack.end);
	changed->walked |= WALK_LBR;
}

/* A stack that was unwound to its end needs nothing from the registers. */
static void show_unwound(struct lbr_stitcher *stitcher, const struct sample *sample, u32 kernel)
{
	struct memo_stack whole = {.end = LBR_END_WHOLE,
				   .count = sample->frame_count - kernel - 1U};

	copy_frames(stitcher, sample->frames + kernel, sample->frame_count - kernel);
	for (u32 i = kernel + 1; i < sample->frame_count; i++) {
		place_id back = places_find(stitcher->places, sample->pid,
					    sample->frames[i].address);
		place_id call = places_call_before(stitcher->places, back);

		*vec_add(&stitcher->calls) = sample->frames[i].address -
					     (call ? places_at(stitcher->places, call)->call_bytes
						   : 0);
	}
	lbr_tally_add(&stitcher->tally, &whole, sample->branch_count);
}

/* The recording begins once more, behind what was learned of it. */
static void begin_again(struct lbr_stitcher *stitcher)
{
	process_table_free(stitcher->processes);
	stitcher->processes = process_table_new();
	places_set_processes(stitcher->places, stitcher->processes);
	threads_rewind(stitcher->threads);
	if (stitcher->likely)
		likely_forget(stitcher->likely);
	stitcher->is_learning = false;
	stitcher->has_learned_all = stitcher->learned < LEARNED_MAX;
	if (!stitcher->has_learned_all)
		graph_solve(stitcher->graph, depth_of(stitcher));
}

static int take_sample(struct event_sink *sink, const struct sample *sample)
{
	struct lbr_stitcher *stitcher = stitcher_of(sink);
	struct sample changed = *sample;
	u32 kernel = sample_kernel_frames(sample);

	if (stitcher->is_learning)
		begin_again(stitcher);
	stitcher->calls.count = 0;
	stitcher->shown.count = 0;
	/* Not in user space, or no chain was asked for: perf takes what there is, too. */
	if (!has_call_stack(stitcher, sample) || kernel == sample->frame_count)
		return sink_call(stitcher->passing.next, on_sample, sample);
	stitcher->tally.stacks++;
	stitcher->frames.count = 0;
	copy_frames(stitcher, sample->frames, kernel);
	if (stitcher->settings.tier == LBR_PLAIN)
		show_plain(stitcher, sample);
	else if (sample->walked & WALK_EH_FRAME && sample->cut == CUT_COMPLETE)
		show_unwound(stitcher, sample, kernel);
	else
		find_stack(stitcher, sample, kernel, &changed);
	changed.frames = stitcher->frames.items;
	changed.frame_count = (u16)stitcher->frames.count;
	if (stitcher->settings.tier != LBR_PLAIN) {
		changed.branches = NULL;
		changed.branch_count = 0;
	}
	return sink_call(stitcher->passing.next, on_sample, &changed);
}

/* --- the other events: the table of processes hears them first --- */

static void hear_mapping(struct lbr_stitcher *stitcher, const struct mapping *mapping)
{
	sink_call(process_table_sink(stitcher->processes), on_mapping, mapping);
	places_changed(stitcher->places);
}

static void hear_name(struct lbr_stitcher *stitcher, const struct thread_name *name)
{
	sink_call(process_table_sink(stitcher->processes), on_name, name);
	places_changed(stitcher->places);
	if (name->is_exec)
		threads_renew(stitcher->threads, name->tid);
}

static void hear_fork(struct lbr_stitcher *stitcher, const struct thread_life *life)
{
	sink_call(process_table_sink(stitcher->processes), on_fork, life);
	places_changed(stitcher->places);
	threads_renew(stitcher->threads, life->tid);
}

static void hear_exit(struct lbr_stitcher *stitcher, const struct thread_life *life)
{
	sink_call(process_table_sink(stitcher->processes), on_exit, life);
	places_changed(stitcher->places);
}

#define HEAR(member, type)                                                    \
	static int learn_##member(struct event_sink *sink, type event)        \
	{                                                                     \
		hear_##member(stitcher_of_learning(sink), event);             \
		stitcher_of_learning(sink)->is_learning = true;               \
		return 0;                                                     \
	}                                                                     \
	static int take_##member(struct event_sink *sink, type event)         \
	{                                                                     \
		struct lbr_stitcher *stitcher = stitcher_of(sink);            \
                                                                              \
		if (stitcher->is_learning)                                    \
			begin_again(stitcher);                                \
		hear_##member(stitcher, event);                               \
		return sink_call(stitcher->passing.next, on_##member, event); \
	}

HEAR(mapping, const struct mapping *)
HEAR(name, const struct thread_name *)
HEAR(fork, const struct thread_life *)
HEAR(exit, const struct thread_life *)

/* --- the stitcher --- */

struct lbr_stitcher *lbr_stitcher_new(const struct lbr_settings *settings, struct event_sink *next)
{
	struct lbr_stitcher *stitcher = must_alloc(sizeof(*stitcher));
	struct event_sink *sink = &stitcher->passing.sink;

	passing_sink_init(&stitcher->passing, next);
	sink->on_sample = take_sample;
	sink->on_mapping = take_mapping;
	sink->on_name = take_name;
	sink->on_fork = take_fork;
	sink->on_exit = take_exit;
	sink->on_loss = take_loss;
	stitcher->learning = (struct event_sink){
		.on_sample = learn_sample,
		.on_mapping = learn_mapping,
		.on_name = learn_name,
		.on_fork = learn_fork,
		.on_exit = learn_exit,
	};
	stitcher->settings = *settings;
	stitcher->processes = process_table_new();
	stitcher->places = places_new(stitcher->processes, settings->symfs);
	stitcher->graph = graph_new(stitcher->places);
	stitcher->threads = threads_new();
	stitcher->memo = memo_new();
	if (settings->tier == LBR_LIKELY)
		stitcher->likely = likely_new();
	return stitcher;
}

void lbr_stitcher_free(struct lbr_stitcher *stitcher)
{
	if (!stitcher)
		return;
	memo_free(stitcher->memo);
	likely_free(stitcher->likely);
	graph_free(stitcher->graph);
	threads_free(stitcher->threads);
	places_free(stitcher->places);
	process_table_free(stitcher->processes);
	vec_release(&stitcher->frames);
	vec_release(&stitcher->calls);
	free(stitcher);
}

void lbr_stitcher_freep(struct lbr_stitcher **stitcher)
{
	lbr_stitcher_free(*stitcher);
}

void lbr_stitcher_set_sources(struct lbr_stitcher *stitcher, const struct event_source *sources,
			      size_t count)
{
	stitcher->sources = sources;
	stitcher->source_count = count;
}

struct event_sink *lbr_stitcher_sink(struct lbr_stitcher *stitcher)
{
	return &stitcher->passing.sink;
}

struct event_sink *lbr_stitcher_learning_sink(struct lbr_stitcher *stitcher)
{
	return &stitcher->learning;
}

const struct lbr_tally *lbr_stitcher_tally(const struct lbr_stitcher *stitcher)
{
	return &stitcher->tally;
}

const u64 *lbr_stitcher_calls(struct lbr_stitcher *stitcher, size_t *ret_count)
{
	for (u32 i = 0; i < stitcher->shown.count; i++)
		*vec_add(&stitcher->calls) = memo_call(stitcher->shown.calls[i]);
	stitcher->shown.count = 0;
	*ret_count = stitcher->calls.count;
	return stitcher->calls.items;
}
