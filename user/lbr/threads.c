/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Facts of threads by thread and by how often it has become another one.
 */
#include "lbr/threads.h"

#include <string.h>
#include <xxhash.h>

enum {
	ANCHOR_COUNT_MIN = 8, /* a function that was seen so often in one place belongs there */
	CONTRADICTED_MAX_PERMILLE = 10,
};

/* A function that was in a register. */
struct held {
	u32 body, slot;
	u32 anchor; /* row + 1 in the lesson's thread; 0: it has too many */
};

/* What a stack says of any thread that has it. */
struct lesson {
	bool is_contradicted;
	bool has_constant;
	u32 constant;
	u32 first, count; /* rows of `held` */
	u32 thread;	  /* its id: the one of whose anchors the rows are known; 0: of none */
};

struct threads {
	VEC(struct thread_facts) rows;
	struct idmap row_of;	/* (times renewed, thread) → row + 1 */
	struct idmap renewed;	/* thread → times */
	u32 last_tid, last_row; /* that were asked for; last_row 0: nothing */
	VEC(struct lesson) lessons;
	VEC(struct held) held;
	struct idmap lesson_of; /* key → row + 1 */
	bool is_beside;		/* what rows point to is another one's */
};

struct threads *threads_new(void)
{
	return must_alloc(sizeof(struct threads));
}

struct threads *threads_beside(const struct threads *learned)
{
	struct threads *threads = threads_new();
	size_t count = learned->rows.count;

	threads->is_beside = true;
	threads->row_of = idmap_copy(&learned->row_of);
	vec_reserve(&threads->rows, count);
	if (count)
		memcpy(threads->rows.items, learned->rows.items,
		       count * sizeof(*learned->rows.items));
	threads->rows.count = count;
	return threads;
}

void threads_free(struct threads *threads)
{
	if (!threads)
		return;
	for (size_t i = 0; i < threads->rows.count && !threads->is_beside; i++) {
		anchors_release(&threads->rows.items[i].anchors);
		vec_release(&threads->rows.items[i].window);
	}
	vec_release(&threads->rows);
	idmap_release(&threads->row_of);
	threads_rewind(threads);
	free(threads);
}

/* The row + 1 of a thread; 0: there are too many. */
static u32 row_made(struct threads *threads, u64 key)
{
	u32 row = idmap_get(&threads->row_of, key);

	if (row || threads->rows.count == THREADS_MAX)
		return row;
	row = (u32)threads->rows.count + 1;
	*vec_add(&threads->rows) = (struct thread_facts){.id = row, .key = key};
	*idmap_place(&threads->row_of, key) = row;
	return row;
}

struct thread_facts *threads_at(struct threads *threads, u32 tid)
{
	u64 key;
	u32 row;

	if (threads->last_row && threads->last_tid == tid)
		return &threads->rows.items[threads->last_row - 1];
	key = (u64)idmap_get(&threads->renewed, tid) << 32 | tid;
	row = row_made(threads, key);
	if (!row)
		return NULL;
	threads->last_tid = tid;
	threads->last_row = row;
	return &threads->rows.items[row - 1];
}

void threads_renew(struct threads *threads, u32 tid)
{
	(*idmap_place(&threads->renewed, tid))++;
	threads->last_row = 0;
}

void threads_rewind(struct threads *threads)
{
	vec_release(&threads->lessons);
	vec_release(&threads->held);
	idmap_release(&threads->lesson_of);
	idmap_release(&threads->renewed);
	threads->last_row = 0;
}

/* --- learning --- */

static void learn_constant(struct thread_facts *thread, u32 constant, u64 time_ns)
{
	if (!thread->constant_count)
		thread->constant_first_ns = time_ns;
	thread->constant_last_ns = time_ns;
	thread->is_constant_moved |= thread->constant_count && thread->constant != constant;
	thread->constant = constant;
	thread->constant_count++;
}

/* A function's anchor, which may be new; NULL: it would be one too many. */
static struct anchor *find_anchor(struct thread_facts *thread, const struct held *held, u64 time_ns)
{
	struct anchor *anchor = anchors_make(&thread->anchors, held->body, time_ns);

	if (!anchor)
		return NULL;
	if (anchor->slot == SLOT_UNKNOWN)
		anchor->slot = (u16)held->slot;
	anchor->is_moved |= held->slot != SLOT_UNKNOWN && anchor->slot != held->slot;
	return anchor;
}

/* Which functions were on the stack, and in which registers, behind what is there. */
static void list_held(struct threads *threads, const struct walked *walked, bool has_slots)
{
	const struct stack *stack = walked->stack;

	vec_reserve(&threads->held, stack->count + 1);
	for (u32 i = 0; i <= stack->count; i++) {
		u32 body = places_at(walked->places, stack_frame(walked->snapshot, stack, i))->body;
		bool is_held = has_slots && i < stack->entries && i < stack->count;
		u32 slot = is_held ? stack_slot(walked->snapshot, i) : SLOT_UNKNOWN;

		if (body)
			*vec_add(&threads->held) = (struct held){body, slot, 0};
	}
}

static void find_anchors(struct threads *threads, struct lesson *lesson,
			 struct thread_facts *thread, u64 time_ns)
{
	struct held *held = threads->held.items + lesson->first;

	for (u32 i = 0; i < lesson->count; i++) {
		const struct anchor *anchor = find_anchor(thread, &held[i], time_ns);

		held[i].anchor = anchor ? (u32)(anchor - thread->anchors.rows.items) + 1 : 0;
	}
	lesson->thread = thread->id;
}

static void learn(struct threads *threads, struct thread_facts *thread, struct lesson *lesson,
		  u64 time_ns)
{
	const struct held *held = threads->held.items + lesson->first;

	if (lesson->thread != thread->id)
		find_anchors(threads, lesson, thread, time_ns);
	if (!thread->stacks)
		thread->first_ns = time_ns;
	thread->last_ns = time_ns;
	thread->stacks++;
	thread->contradicted += lesson->is_contradicted;
	if (lesson->has_constant)
		learn_constant(thread, lesson->constant, time_ns);
	for (u32 i = 0; i < lesson->count; i++) {
		struct anchor *anchor;

		if (!held[i].anchor)
			continue;
		anchor = &thread->anchors.rows.items[held[i].anchor - 1];
		anchor->seen_last_ns = time_ns;
		if (held[i].slot == SLOT_UNKNOWN)
			continue;
		if (!anchor->count)
			anchor->first_ns = time_ns;
		anchor->last_ns = time_ns;
		anchor->count += anchor->count != UINT16_MAX;
	}
}

void threads_learn(struct threads *threads, struct thread_facts *thread,
		   const struct walked *walked, u64 key)
{
	const struct snapshot *snapshot = walked->snapshot;
	const struct stack *stack = walked->stack;
	bool has_slots = snapshot->hw_idx != ~0ULL && !stack->is_shifted;
	struct lesson lesson = {
		.is_contradicted = stack->is_shifted || stack->end == LBR_END_CONTRADICTED,
		.has_constant = has_slots && stack->end == LBR_END_WHOLE,
		.first = (u32)threads->held.count,
	};

	if (lesson.has_constant)
		lesson.constant = stack_slot(snapshot, stack->count);
	list_held(threads, walked, has_slots);
	lesson.count = (u32)threads->held.count - lesson.first;
	learn(threads, thread, &lesson, snapshot->time_ns);
	if (key) {
		*vec_add(&threads->lessons) = lesson;
		*idmap_place(&threads->lesson_of, key) = (u32)threads->lessons.count;
	} else {
		threads->held.count = lesson.first;
	}
}

bool threads_know(const struct threads *threads, u64 key)
{
	return idmap_get(&threads->lesson_of, key);
}

static void merge_constant(struct thread_facts *thread, const struct thread_facts *more)
{
	if (!more->constant_count)
		return;
	learn_constant(thread, more->constant, more->constant_first_ns);
	thread->constant_last_ns = more->constant_last_ns;
	thread->constant_count += more->constant_count - 1;
	thread->is_constant_moved |= more->is_constant_moved;
}

static void merge_anchor(struct thread_facts *thread, const struct anchor *more, u32 body)
{
	const struct held held = {body, more->slot, 0};
	struct anchor *anchor = find_anchor(thread, &held, more->seen_first_ns);

	if (!anchor)
		return;
	anchor->seen_last_ns = more->seen_last_ns;
	anchor->is_moved |= more->is_moved;
	if (!more->count)
		return;
	if (!anchor->count)
		anchor->first_ns = more->first_ns;
	anchor->last_ns = more->last_ns;
	anchor->count = anchor->count + more->count < UINT16_MAX
				? (u16)(anchor->count + more->count)
				: UINT16_MAX;
}

void threads_learn_all(struct threads *threads, const struct threads *more,
		       const struct place_merge *merge)
{
	for (size_t i = 0; i < more->rows.count; i++) {
		const struct thread_facts *there = &more->rows.items[i];
		u32 row = there->stacks ? row_made(threads, there->key) : 0;
		struct thread_facts *thread = row ? &threads->rows.items[row - 1] : NULL;

		if (!thread)
			continue;
		if (!thread->stacks)
			thread->first_ns = there->first_ns;
		thread->last_ns = there->last_ns;
		thread->stacks += there->stacks;
		thread->contradicted += there->contradicted;
		merge_constant(thread, there);
		for (size_t k = 0; k < there->anchors.rows.count; k++)
			merge_anchor(thread, &there->anchors.rows.items[k],
				     places_merged_body(merge, there->anchors.rows.items[k].body));
	}
}

void threads_learn_again(struct threads *threads, struct thread_facts *thread, u64 key, u64 time_ns)
{
	u32 row = idmap_get(&threads->lesson_of, key);

	if (row)
		learn(threads, thread, &threads->lessons.items[row - 1], time_ns);
}

/* --- asking --- */

/* Lengthens a span by those of functions that were in one register before and after its ends. */
static bool lengthen(const struct thread_facts *thread, u64 *first_ns, u64 *last_ns)
{
	bool has_grown = false;

	for (size_t i = 0; i < thread->anchors.rows.count; i++) {
		const struct anchor *anchor = &thread->anchors.rows.items[i];

		if (anchor->is_moved || anchor->count < ANCHOR_COUNT_MIN ||
		    anchor->first_ns > *last_ns || anchor->last_ns < *first_ns)
			continue;
		has_grown |= anchor->first_ns < *first_ns || anchor->last_ns > *last_ns;
		if (anchor->first_ns < *first_ns)
			*first_ns = anchor->first_ns;
		if (anchor->last_ns > *last_ns)
			*last_ns = anchor->last_ns;
	}
	return has_grown;
}

static bool has_fixed_constant(const struct thread_facts *thread)
{
	return thread->constant_count && !thread->is_constant_moved;
}

bool thread_has_constant(struct thread_facts *thread, u64 time_ns)
{
	u64 first_ns = thread->constant_first_ns, last_ns = thread->constant_last_ns;

	if (!has_fixed_constant(thread))
		return false;
	if (thread->held_stacks != thread->stacks) {
		while (lengthen(thread, &first_ns, &last_ns))
			;
		thread->held_stacks = thread->stacks;
		thread->held_first_ns = first_ns;
		thread->held_last_ns = last_ns;
	}
	return time_ns >= thread->held_first_ns && time_ns <= thread->held_last_ns;
}

struct time_span thread_span(struct thread_facts *thread, u64 time_ns)
{
	if (!has_fixed_constant(thread))
		return (struct time_span){0, UINT64_MAX};
	if (thread_has_constant(thread, time_ns))
		return (struct time_span){thread->held_first_ns, thread->held_last_ns};
	if (time_ns < thread->held_first_ns)
		return (struct time_span){0, thread->held_first_ns - 1};
	return (struct time_span){thread->held_last_ns + 1, UINT64_MAX};
}

bool thread_is_balanced(const struct thread_facts *thread)
{
	return thread->contradicted * 1000 <= thread->stacks * CONTRADICTED_MAX_PERMILLE;
}

static bool is_held(const struct thread_facts *thread, const struct anchor *anchor)
{
	return !anchor->is_moved && anchor->count >= ANCHOR_COUNT_MIN &&
	       2 * (anchor->last_ns - anchor->first_ns) >= thread->last_ns - thread->first_ns;
}

static u64 min_time(u64 left_ns, u64 right_ns)
{
	return left_ns < right_ns ? left_ns : right_ns;
}

static u64 max_time(u64 left_ns, u64 right_ns)
{
	return left_ns > right_ns ? left_ns : right_ns;
}

struct time_span thread_saw(const struct thread_facts *thread, const u32 *bodies, u32 count)
{
	struct time_span span = {0, UINT64_MAX};
	u64 later_ns = 0; /* the last time of all further out */

	for (u32 i = count; i-- > 0;) {
		const struct anchor *anchor = anchors_find(&thread->anchors, bodies[i]);
		u64 last_ns = anchor ? anchor->seen_last_ns : 0;

		if (!anchor)
			return (struct time_span){1, 0};
		span.first_ns = max_time(span.first_ns, anchor->seen_first_ns);
		if (!i || last_ns < later_ns)
			span.last_ns = min_time(span.last_ns, last_ns);
		later_ns = max_time(later_ns, last_ns);
	}
	span.last_ns = min_time(span.last_ns, later_ns);
	return span;
}

bool thread_fits(const struct thread_facts *thread, const struct slots *slots, const u32 *bodies,
		 u32 count)
{
	u32 slot = slots->first;

	for (u32 i = 0; i < count && slots->depth; i++) {
		const struct anchor *anchor = anchors_find(&thread->anchors, bodies[i]);

		if (anchor && is_held(thread, anchor) && anchor->slot != slot)
			return false;
		slot = (slot ? slot : slots->depth) - 1;
	}
	return true;
}
