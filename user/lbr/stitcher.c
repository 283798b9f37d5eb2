/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sink: takes samples apart, lets their stacks be found, puts them together again.
 */
#include "base/memory.h"
#include "base/vec.h"
#include "lbr/lbr.h"
#include "lbr/walk.h"

#include <stddef.h>

/* PERF_SAMPLE_BRANCH_CALL_STACK, include/uapi/linux/perf_event.h */
static const u64 branch_call_stack = 1 << 11;

struct lbr_stitcher {
	struct event_sink sink, learning;
	struct event_sink *next;
	struct lbr_settings settings;
	const struct event_source *sources;
	size_t source_count;
	struct process_table *processes;
	struct places *places;
	struct lbr_tally tally;
	struct stack stack;
	VEC(struct frame) frames; /* of the sample at hand */
	VEC(u64) calls;
};

static struct lbr_stitcher *stitcher_of(struct event_sink *sink)
{
	return (struct lbr_stitcher *)sink; /* the sink is its first member */
}

/* --- one sample --- */

static bool has_call_stack(const struct lbr_stitcher *stitcher, const struct sample *sample)
{
	return sample->source < stitcher->source_count &&
	       stitcher->sources[sample->source].branch_bits & branch_call_stack;
}

/* How many frames of the chain are not of user space: they come first. */
static u32 kernel_frames(const struct sample *sample)
{
	u32 count = 0;

	while (count < sample->frame_count && sample->frames[count].space != SPACE_USER)
		count++;
	return count;
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
 * Where there is no entry, perf 6.1 reads what lies behind the record; here it is the true leaf. */
static void show_plain(struct lbr_stitcher *stitcher, const struct sample *sample, u32 kernel)
{
	if (!sample->branch_count) {
		copy_frames(stitcher, sample->frames + kernel, kernel < sample->frame_count);
		return;
	}
	add_frame(stitcher, sample->branches[0].to, ORIGIN_LBR);
	for (u32 i = 0; i < sample->branch_count; i++) {
		add_frame(stitcher, sample->branches[i].from, ORIGIN_LBR);
		*vec_add(&stitcher->calls) = sample->branches[i].from;
	}
}

static struct snapshot snapshot_of(const struct sample *sample, u32 kernel)
{
	bool is_unwound = sample->walked & WALK_EH_FRAME;

	return (struct snapshot){
		.pid = sample->pid,
		.tid = sample->tid,
		.time_ns = sample->time_ns,
		.leaf = sample->frames[kernel].address,
		.callers = sample->frames + kernel + 1,
		.caller_count = sample->frame_count - kernel - 1,
		.is_unwound = is_unwound,
		.is_whole = is_unwound && sample->cut == CUT_COMPLETE,
		.entries = sample->branches,
		.entry_count = sample->branch_count,
		.hw_idx = sample->hw_idx,
	};
}

static void show_stack(struct lbr_stitcher *stitcher, const struct snapshot *snapshot)
{
	const struct stack *stack = &stitcher->stack;

	add_frame(stitcher, snapshot->leaf, ORIGIN_UNKNOWN);
	for (u32 i = 0; i < stack->count; i++) {
		add_frame(stitcher, stack->calls[i].return_address, stack->calls[i].origin);
		*vec_add(&stitcher->calls) = stack->calls[i].from;
	}
}

static u8 cut_of(u8 end)
{
	static const u8 cuts[LBR_END_COUNT] = {
		[LBR_END_WHOLE] = CUT_COMPLETE,	     [LBR_END_OVERWRITTEN] = CUT_OVERWRITTEN,
		[LBR_END_CONTRADICTED] = CUT_BROKEN, [LBR_END_SIGNAL] = CUT_BROKEN,
		[LBR_END_SEVERAL] = CUT_OVERWRITTEN, [LBR_END_UNSEEN] = CUT_OVERWRITTEN,
		[LBR_END_EMPTY] = CUT_OVERWRITTEN,
	};

	return cuts[end];
}

static void count_stack(struct lbr_stitcher *stitcher, const struct snapshot *snapshot)
{
	const struct stack *stack = &stitcher->stack;
	struct lbr_tally *tally = &stitcher->tally;

	tally->ends[stack->end]++;
	if (stack->by_hardware) {
		tally->whole_by_hardware++;
		return;
	}
	tally->cut_by_hardware++;
	tally->became_whole += stack->end == LBR_END_WHOLE;
	tally->became_longer += stack->end != LBR_END_WHOLE && stack->count > snapshot->entry_count;
	tally->shortened += stack->end != LBR_END_WHOLE && stack->count < snapshot->entry_count;
}

static void find_stack(struct lbr_stitcher *stitcher, const struct sample *sample, u32 kernel,
		       struct sample *changed)
{
	struct snapshot snapshot = snapshot_of(sample, kernel);

	walk(stitcher->places, &snapshot, &stitcher->stack);
	count_stack(stitcher, &snapshot);
	show_stack(stitcher, &snapshot);
	changed->cut = cut_of(stitcher->stack.end);
	changed->walked |= WALK_LBR;
}

static int take_sample(struct event_sink *sink, const struct sample *sample)
{
	struct lbr_stitcher *stitcher = stitcher_of(sink);
	struct sample changed = *sample;
	u32 kernel;

	stitcher->calls.count = 0;
	if (!has_call_stack(stitcher, sample))
		return sink_call(stitcher->next, on_sample, sample);
	kernel = kernel_frames(sample);
	if (kernel == sample->frame_count) /* it was not in user space, or no chain was asked for */
		return sink_call(stitcher->next, on_sample, sample);
	stitcher->tally.stacks++;
	stitcher->frames.count = 0;
	copy_frames(stitcher, sample->frames, kernel);
	if (stitcher->settings.tier == LBR_PLAIN)
		show_plain(stitcher, sample, kernel);
	else
		find_stack(stitcher, sample, kernel, &changed);
	changed.frames = stitcher->frames.items;
	changed.frame_count = (u16)stitcher->frames.count;
	changed.branches = NULL;
	changed.branch_count = 0;
	return sink_call(stitcher->next, on_sample, &changed);
}

/* --- the other events: the table of processes hears them first --- */

static int take_mapping(struct event_sink *sink, const struct mapping *mapping)
{
	struct lbr_stitcher *stitcher = stitcher_of(sink);

	sink_call(process_table_sink(stitcher->processes), on_mapping, mapping);
	return sink_call(stitcher->next, on_mapping, mapping);
}

static int take_name(struct event_sink *sink, const struct thread_name *name)
{
	struct lbr_stitcher *stitcher = stitcher_of(sink);

	sink_call(process_table_sink(stitcher->processes), on_name, name);
	return sink_call(stitcher->next, on_name, name);
}

static int take_fork(struct event_sink *sink, const struct thread_life *life)
{
	struct lbr_stitcher *stitcher = stitcher_of(sink);

	sink_call(process_table_sink(stitcher->processes), on_fork, life);
	return sink_call(stitcher->next, on_fork, life);
}

static int take_exit(struct event_sink *sink, const struct thread_life *life)
{
	struct lbr_stitcher *stitcher = stitcher_of(sink);

	sink_call(process_table_sink(stitcher->processes), on_exit, life);
	return sink_call(stitcher->next, on_exit, life);
}

static int take_kernel_symbol(struct event_sink *sink, const struct kernel_symbol *symbol)
{
	return sink_call(stitcher_of(sink)->next, on_kernel_symbol, symbol);
}

static int take_bpf_program(struct event_sink *sink, const struct bpf_program *program)
{
	return sink_call(stitcher_of(sink)->next, on_bpf_program, program);
}

static int take_cgroup(struct event_sink *sink, const struct cgroup_name *cgroup)
{
	return sink_call(stitcher_of(sink)->next, on_cgroup, cgroup);
}

static int take_loss(struct event_sink *sink, const struct loss *loss)
{
	return sink_call(stitcher_of(sink)->next, on_loss, loss);
}

static int take_round(struct event_sink *sink, u64 time_ns)
{
	return sink_call(stitcher_of(sink)->next, on_round, time_ns);
}

static int take_end(struct event_sink *sink)
{
	struct event_sink *next = stitcher_of(sink)->next;

	return next->on_end ? next->on_end(next) : 0;
}

/* --- the stitcher --- */

struct lbr_stitcher *lbr_stitcher_new(const struct lbr_settings *settings, struct event_sink *next)
{
	struct lbr_stitcher *stitcher = must_alloc(sizeof(*stitcher));

	stitcher->sink = (struct event_sink){
		.on_sample = take_sample,
		.on_mapping = take_mapping,
		.on_name = take_name,
		.on_fork = take_fork,
		.on_exit = take_exit,
		.on_kernel_symbol = take_kernel_symbol,
		.on_bpf_program = take_bpf_program,
		.on_cgroup = take_cgroup,
		.on_loss = take_loss,
		.on_round = take_round,
		.on_end = take_end,
	};
	stitcher->settings = *settings;
	stitcher->next = next;
	stitcher->processes = process_table_new();
	stitcher->places = places_new(stitcher->processes, settings->symfs);
	return stitcher;
}

void lbr_stitcher_free(struct lbr_stitcher *stitcher)
{
	if (!stitcher)
		return;
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
	return &stitcher->sink;
}

struct event_sink *lbr_stitcher_learning_sink(struct lbr_stitcher *stitcher)
{
	return &stitcher->learning;
}

const struct lbr_tally *lbr_stitcher_tally(const struct lbr_stitcher *stitcher)
{
	return &stitcher->tally;
}

const u64 *lbr_stitcher_calls(const struct lbr_stitcher *stitcher, size_t *ret_count)
{
	*ret_count = stitcher->calls.count;
	return stitcher->calls.items;
}

const char *lbr_end_words(u8 end)
{
#define LBR_END_AS_WORDS(name, sentence) sentence,
	static const char *const words[] = {LBR_ENDS(LBR_END_AS_WORDS)};

	return end < LBR_END_COUNT ? words[end] : words[LBR_END_OVERWRITTEN];
}
