/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps that were noted, and what a thread's registers held last: of those that hold the same, only
 * the newest is looked at.
 */
#include "lbr/evidence.h"

#include <string.h>

static bool is_same(const struct branch *left, const struct branch *right)
{
	return left->from == right->from && left->to == right->to;
}

/* How many entries differ from what was in their registers before, or are newer than such. */
static u32 changed_entries(const struct evidence *evidence)
{
	const struct thread_facts *thread = evidence->thread;
	const struct snapshot *now = evidence->snapshot;
	u32 changed = now->entry_count, before = (u32)thread->window.count;
	u32 newer; /* so much newer is entry 0 of the window, modulo the depth */

	if (thread->window_generation != places_generation(evidence->places, now->pid))
		return changed;
	if (now->hw_idx == ~0ULL || thread->window_hw_idx == ~0ULL || !now->depth)
		return changed;
	newer = (u32)((thread->window_hw_idx % now->depth + now->depth - now->hw_idx % now->depth) %
		      now->depth);
	while (changed) {
		u32 at = (changed - 1 + newer) % now->depth;

		/* A turn of the registers later, neighbours are others. */
		if (at + 1 == now->depth && changed != now->entry_count)
			break;
		if (at >= before || !is_same(&now->entries[changed - 1], &thread->window.items[at]))
			break;
		changed--;
	}
	return changed;
}

/* Whether the function that executes in frame `index` was in its register before. */
static bool frame_is_known(const struct evidence *evidence, u32 body, u32 index)
{
	const struct thread_facts *thread = evidence->thread;
	const struct anchor *anchor;

	if (!body)
		return true;
	anchor = anchors_find(&thread->anchors, body);
	if (!anchor)
		return thread->anchors.rows.count >= ANCHORS_MAX;
	return anchor->is_moved || evidence->snapshot->hw_idx == ~0ULL ||
	       anchor->slot == stack_slot(evidence->snapshot, index);
}

/* The end was noted, and where it is the thread's start, registers are numbered as they were. */
static bool end_is_known(const struct evidence *evidence, const struct place *last)
{
	const struct snapshot *snapshot = evidence->snapshot;
	const struct thread_facts *thread = evidence->thread;

	if (!*places_end_note(evidence->places, last->body, last->is_outermost))
		return false;
	return !last->is_outermost || snapshot->hw_idx == ~0ULL ||
	       (thread->constant_count &&
		(thread->is_constant_moved ||
		 thread->constant == stack_slot(snapshot, snapshot->entry_count)));
}

static bool step_is_noted(const struct place_step *step, u32 body)
{
	return body == step->to_body ? step->is_noted : step->has_note && step->noted_body == body;
}

static void note_step(struct place_step *step, u32 body)
{
	if (body == step->to_body) {
		step->is_noted = true;
		return;
	}
	step->has_note = true;
	step->noted_body = body;
}

/* Where a walk by entries is. */
struct frame_at {
	u32 body;
	u8 pointer;
	bool ends;
};

/* Whether the walk goes by entry `index` from there, as was noted; `pointers` says whether frame
 * pointers may lead on. */
static bool goes_by_entry(const struct evidence *evidence, u32 index, struct frame_at *at,
			  bool *pointers)
{
	const struct place_step *step;

	if (!frame_is_known(evidence, at->body, index) || at->ends ||
	    (*pointers && at->pointer == POINTER_FRAME))
		return false;
	*pointers &= at->pointer == POINTER_CALLERS;
	step = places_step(evidence->places, index);
	if (!step_is_noted(step, at->body))
		return false;
	*at = (struct frame_at){step->from_body, step->pointer, step->ends};
	return true;
}

static bool is_known(const struct evidence *evidence)
{
	const struct snapshot *snapshot = evidence->snapshot;
	const struct place *leaf = places_at(evidence->places, snapshot->leaf_place);
	u32 changed = changed_entries(evidence), count = snapshot->entry_count;
	struct frame_at at = {leaf->body, leaf->pointer, leaf->is_outermost || leaf->is_signal};
	bool pointers = snapshot->caller_count;
	place_id last;

	places_expect_steps(evidence->places, snapshot->pid, snapshot->entries,
			    pointers || changed >= count ? count : changed + 1);
	for (u32 i = 0; i < count && (i <= changed || pointers); i++)
		if (!goes_by_entry(evidence, i, &at, &pointers))
			return false;
	last = places_find(evidence->places, snapshot->pid, snapshot->entries[count - 1].from);
	return end_is_known(evidence, places_at(evidence->places, last));
}

static void keep_window(const struct evidence *evidence)
{
	const struct snapshot *snapshot = evidence->snapshot;
	struct thread_facts *thread = evidence->thread;

	thread->window.count = 0;
	vec_reserve(&thread->window, snapshot->entry_count);
	memcpy(thread->window.items, snapshot->entries,
	       snapshot->entry_count * sizeof(*snapshot->entries));
	thread->window.count = snapshot->entry_count;
	thread->window_hw_idx = snapshot->hw_idx;
	thread->window_generation = places_generation(evidence->places, snapshot->pid);
}

bool evidence_is_known(const struct evidence *evidence)
{
	struct thread_facts *thread = evidence->thread;

	if (evidence->snapshot->is_unwound || !evidence->snapshot->entry_count ||
	    !is_known(evidence))
		return false;
	keep_window(evidence);
	thread->stacks++;
	thread->last_ns = evidence->snapshot->time_ns;
	return true;
}

/* Whether the stack consists of all entries, one after the other, and nothing else. */
static bool is_of_entries(const struct snapshot *snapshot, const struct stack *stack)
{
	if (stack->is_shifted || snapshot->is_unwound || stack->count != snapshot->entry_count ||
	    (stack->end != LBR_END_OVERWRITTEN && stack->end != LBR_END_WHOLE))
		return false;
	for (u32 i = 0; i < stack->count; i++)
		if (stack->calls[i].from != snapshot->entries[i].from)
			return false;
	return true;
}

void evidence_note(const struct evidence *evidence, const struct stack *stack)
{
	const struct snapshot *snapshot = evidence->snapshot;
	struct places *places = evidence->places;
	const struct place *last;

	evidence->thread->window.count = 0;
	if (!stack->count || !is_of_entries(snapshot, stack))
		return;
	places_expect_steps(places, snapshot->pid, snapshot->entries, stack->count);
	for (u32 i = 0; i < stack->count; i++)
		note_step(places_step(places, i),
			  places_at(places, stack_frame(snapshot, stack, i))->body);
	last = places_at(places, stack_frame(snapshot, stack, stack->count));
	*places_end_note(places, last->body, last->is_outermost) = true;
	keep_window(evidence);
}
