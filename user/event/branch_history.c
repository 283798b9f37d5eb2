/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Branches as frames, by the rules of perf report --branch-history.
 *
 * Source: Linux 6.1, tools/perf/util/machine.c, thread__resolve_callchain_sample() and
 * remove_loops(). What perf does by accident is done too: as many words as there are branches are
 * left out at the far end of the call chain, and loops are looked for by a hash without chains.
 */
#include "event/branch_history.h"

#include "base/idmap.h"
#include "base/memory.h"
#include "base/vec.h"
#include "event/pass.h"

#include <string.h>

enum { MAX_BRANCHES = 127, LOOP_SLOTS = 127, LOOP_HASH_BITS = 7, OVERLAP_BYTES = 8 };

/* A branch, and the loop that was left out in front of it. */
struct step {
	struct branch branch;
	u32 iterations, loop_cycles;
};

struct branch_history {
	struct passing_sink passing; /* first */
	enum history_order order;
	struct step steps[MAX_BRANCHES];
	u32 step_count;
	VEC(struct frame) shown; /* in order */
	VEC(struct branch_mark) marks;
	struct idmap mark_of;
};

static u32 cycles_of(const struct branch *branch)
{
	return ((u32)branch->flags & BRANCH_CYCLES) >> BRANCH_CYCLES_SHIFT;
}

/* --- loops --- */

/* How many steps from `at` on repeat those from `before` on; 0: they do not. */
static u32 repeated(const struct branch_history *history, u32 before, u32 at)
{
	const struct step *steps = history->steps;
	u32 length = 0;

	for (; before + length < at && at + length < history->step_count; length++)
		if (steps[before + length].branch.from != steps[at + length].branch.from)
			return 0;
	return length;
}

static void leave_out(struct branch_history *history, u32 at, u32 length)
{
	struct step *steps = history->steps;
	u32 behind = history->step_count - at - length;

	if (behind) {
		struct step *next = &steps[at + length];

		next->iterations++;
		next->loop_cycles = 0;
		for (u32 i = 0; i < length; i++)
			next->loop_cycles += cycles_of(&steps[at + i].branch);
		memmove(&steps[at], next, behind * sizeof(*steps));
	}
	history->step_count -= length;
}

static void leave_out_loops(struct branch_history *history)
{
	u8 seen[LOOP_SLOTS] = {0}; /* step + 1 */

	for (u32 i = 0; i < history->step_count; i++) {
		u64 from = history->steps[i].branch.from;
		/* 2^64 divided by the golden ratio; hash_64() of linux/hash.h */
		u8 *slot =
			&seen[(from * 0x61c8864680b583ebu >> (64 - LOOP_HASH_BITS)) % LOOP_SLOTS];

		if (!*slot) {
			*slot = (u8)(i + 1);
		} else if (history->steps[*slot - 1].branch.from == from) {
			u32 length = repeated(history, *slot - 1u, i);

			if (length)
				leave_out(history, i, length);
		}
	}
}

/* --- frames --- */

static u32 mark_of(struct branch_history *history, const struct step *step, u8 end)
{
	enum { MOST_CYCLES = (1 << 24) - 1, FLAG_BITS = 20, ITERATION_BITS = 8 };
	struct branch_mark mark = {
		.end = end,
		.flags = (u32)step->branch.flags & ((1u << FLAG_BITS) - 1),
		.iterations = end == BRANCH_FROM ? step->iterations : 0,
		.loop_cycles = end == BRANCH_FROM ? step->loop_cycles : 0,
	};
	u64 key;
	u32 *row;

	if (mark.loop_cycles > MOST_CYCLES)
		mark.loop_cycles = MOST_CYCLES;
	key = (((u64)mark.loop_cycles << ITERATION_BITS | mark.iterations) << FLAG_BITS |
	       mark.flags)
		      << 2 |
	      end;
	row = idmap_place(&history->mark_of, key);
	if (!*row) {
		*row = (u32)history->marks.count;
		*vec_add(&history->marks) = mark;
	}
	return *row;
}

static void show_steps(struct branch_history *history)
{
	for (u32 i = 0; i < history->step_count; i++) {
		const struct step *step = &history->steps[i];
		const struct branch *branch = &step->branch;

		*vec_add(&history->shown) = (struct frame){
			.address = branch->to,
			.space = address_space_of(branch->to),
			.mark = mark_of(history, step, BRANCH_TO),
		};
		*vec_add(&history->shown) = (struct frame){
			.address = branch->from,
			.space = address_space_of(branch->from),
			.mark = mark_of(history, step, BRANCH_FROM),
		};
	}
}

/* A call chain as perf has it: a marker in front of the frames of each space is a word, too. */
struct words {
	const struct sample *sample;
	VEC(u32) frames; /* row + 1; 0: a marker */
};

static void words_init(struct words *words, const struct sample *sample)
{
	*words = (struct words){.sample = sample};
	for (u32 i = 0; i < sample->frame_count; i++) {
		if (!i || sample->frames[i].space != sample->frames[i - 1].space)
			*vec_add(&words->frames) = 0;
		*vec_add(&words->frames) = i + 1;
	}
}

/* How many words at the near end say what the branches say. */
static u32 overlap(const struct words *words)
{
	const struct sample *sample = words->sample;
	u32 first = 0;

	for (u32 i = 0; i < sample->branch_count && first < words->frames.count; i++) {
		u32 frame = words->frames.items[first];
		u64 from = sample->branches[i].from;
		u64 address = frame ? sample->frames[frame - 1].address : 0;

		if (!frame || (from < address && from >= address - OVERLAP_BYTES))
			first++;
	}
	return first;
}

static void show_chain(struct branch_history *history, const struct words *words)
{
	bool is_newest_first = history->order == HISTORY_NEWEST_FIRST;
	u32 count = (u32)words->frames.count;
	u32 first = is_newest_first && history->step_count ? overlap(words) : 0;

	for (u32 i = first; i + history->step_count < count; i++) {
		u32 frame = words->frames.items[is_newest_first ? i : count - 1 - i];

		if (frame)
			*vec_add(&history->shown) = words->sample->frames[frame - 1];
	}
}

/* The steps in the order in which they are shown. */
static void take_steps(struct branch_history *history, const struct sample *sample)
{
	u32 count = sample->branch_count <= MAX_BRANCHES ? sample->branch_count : 0;

	history->step_count = count;
	for (u32 i = 0; i < count; i++)
		history->steps[i] = (struct step){
			.branch = sample->branches[history->order == HISTORY_NEWEST_FIRST
							   ? i
							   : count - 1 - i],
		};
	leave_out_loops(history);
}

/* Consumers want the innermost, or newest, first. */
static void turn(struct frame *frames, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		struct frame other = frames[i];

		frames[i] = frames[count - 1 - i];
		frames[count - 1 - i] = other;
	}
}

static int take_sample(struct event_sink *sink, const struct sample *sample)
{
	struct branch_history *history = (struct branch_history *)sink;
	struct sample changed = *sample;
	struct words words;

	if (!sample->branch_count)
		return sink_call(history->passing.next, on_sample, sample);
	history->shown.count = 0;
	take_steps(history, sample);
	show_steps(history);
	words_init(&words, sample);
	show_chain(history, &words);
	vec_release(&words.frames);
	if (history->order == HISTORY_OLDEST_FIRST)
		turn(history->shown.items, history->shown.count);
	changed.has_chain = true;
	changed.frames = history->shown.items;
	changed.frame_count = (u16)history->shown.count;
	return sink_call(history->passing.next, on_sample, &changed);
}

struct branch_history *branch_history_new(enum history_order order, struct event_sink *next)
{
	struct branch_history *history = must_alloc(sizeof(*history));

	passing_sink_init(&history->passing, next);
	history->passing.sink.on_sample = take_sample;
	history->order = order;
	*vec_add(&history->marks) = (struct branch_mark){0};
	return history;
}

struct event_sink *branch_history_sink(struct branch_history *history)
{
	return &history->passing.sink;
}

const struct branch_mark *branch_history_marks(const struct branch_history *history)
{
	return history->marks.items;
}

void branch_history_free(struct branch_history *history)
{
	if (!history)
		return;
	vec_release(&history->shown);
	vec_release(&history->marks);
	idmap_release(&history->mark_of);
	free(history);
}
