/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps that were noted, and what a thread's registers held last: of those that hold the same, only
 * the newest is looked at.
 */
#include "lbr/evidence.h"

#include <string.h>

/* Stand for what is behind the last entry: more that was overwritten, or nothing. */
static const struct branch ends[] = {{.to = 0}, {.to = 1}};

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
static bool frame_is_known(const struct evidence *evidence, place_id now, u32 index)
{
	const struct thread_facts *thread = evidence->thread;
	u32 body = places_at(evidence->places, now)->body;
	const struct anchor *anchor;
	u32 row;

	if (!body || evidence->snapshot->hw_idx == ~0ULL)
		return true;
	row = idmap_get(&thread->anchor_of, body);
	if (!row)
		return thread->anchors.count >= ANCHORS_MAX;
	anchor = &thread->anchors.items[row - 1];
	return anchor->is_moved || anchor->slot == stack_slot(evidence->snapshot, index);
}

/* The end was noted, and where it is the thread's start, registers are numbered as they were. */
static bool end_is_known(const struct evidence *evidence, place_id now)
{
	const struct snapshot *snapshot = evidence->snapshot;
	const struct thread_facts *thread = evidence->thread;

	bool is_outermost = places_at(evidence->places, now)->is_outermost;

	if (!places_step(evidence->places, snapshot->pid, now, &ends[is_outermost])->is_noted)
		return false;
	return !is_outermost || snapshot->hw_idx == ~0ULL ||
	       (thread->constant_count &&
		(thread->is_constant_moved ||
		 thread->constant == stack_slot(snapshot, snapshot->entry_count)));
}

/* Whether nothing but entries leads on from there; `pointers` says whether frame pointers may. */
static bool goes_by_entry(const struct evidence *evidence, place_id now, bool *pointers)
{
	const struct place *place = places_at(evidence->places, now);

	if (place->is_outermost || place->is_signal ||
	    (*pointers && place->pointer == POINTER_FRAME))
		return false;
	*pointers &= place->pointer == POINTER_CALLERS;
	return true;
}

static bool is_known(const struct evidence *evidence)
{
	const struct snapshot *snapshot = evidence->snapshot;
	u32 changed = changed_entries(evidence), count = snapshot->entry_count;
	bool pointers = snapshot->caller_count;
	place_id now = snapshot->leaf_place;

	for (u32 i = 0; i < count; i++) {
		const struct place_step *step;

		if (i > changed && !pointers) {
			now = places_find(evidence->places, snapshot->pid,
					  snapshot->entries[count - 1].from);
			break;
		}
		if (!frame_is_known(evidence, now, i) || !goes_by_entry(evidence, now, &pointers))
			return false;
		step = places_step(evidence->places, snapshot->pid, now, &snapshot->entries[i]);
		if (!step->is_noted)
			return false;
		now = step->from_place;
	}
	return end_is_known(evidence, now);
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
	place_id last;

	evidence->thread->window.count = 0;
	if (!stack->count || !is_of_entries(snapshot, stack))
		return;
	for (u32 i = 0; i < stack->count; i++)
		places_step(places, snapshot->pid, stack_frame(snapshot, stack, i),
			    &snapshot->entries[i])
			->is_noted = true;
	last = stack_frame(snapshot, stack, stack->count);
	places_step(places, snapshot->pid, last, &ends[places_at(places, last)->is_outermost])
		->is_noted = true;
	keep_window(evidence);
}
