/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From frame to frame, by the best witness that there is for each.
 *
 * Call frame information says for every instruction whether the frame pointer is this frame's or
 * still a caller's, so it is known which calls the chain of frame pointers lists and which it
 * leaves out: those are taken from the LBR. Where both list a call, they must agree; if not, the
 * frame pointers are right, for they were read from the stack as it was, while the LBR keeps calls
 * that longjmp() or an exception never returned from.
 */
#include "lbr/walk.h"

struct walking {
	struct places *places;
	const struct snapshot *snapshot;
	struct stack *stack;
	place_id now;	   /* what the frame that is looked at executes */
	u32 entry, caller; /* the next ones */
	u32 sure;	   /* calls that a frame pointer has confirmed */
	u32 proved;	   /* the last so many calls are there because the code proves them */
	bool has_pointers; /* frame pointers can be followed */
};

enum step { STEP_ON, STEP_ENDED };

static enum step end_with(const struct walking *walking, u8 end)
{
	walking->stack->end = end;
	return STEP_ENDED;
}

/* Ends where the last frame pointer was right: what came after it has turned out wrong. */
static enum step end_wrong(const struct walking *walking)
{
	walking->stack->count = walking->sure;
	walking->stack->is_shifted = true;
	return end_with(walking, LBR_END_CONTRADICTED);
}

/* Of code that cannot be read, anything behind the first byte. */
static u64 behind(u64 from, u8 call_bytes)
{
	return from + (call_bytes ? call_bytes : 1);
}

bool stack_push(const struct places *places, struct stack *stack, struct call call)
{
	if (stack->count == STACK_CALLS_MAX)
		return false;
	call.return_address = behind(call.from, places_at(places, call.place)->call_bytes);
	stack->calls[stack->count++] = call;
	return true;
}

place_id stack_frame(const struct snapshot *snapshot, const struct stack *stack, u32 index)
{
	return index ? stack->calls[index - 1].place : snapshot->leaf_place;
}

u32 stack_slot(const struct snapshot *snapshot, u32 index)
{
	u64 slots = snapshot->depth ? snapshot->depth : 1;

	return (u32)((snapshot->hw_idx % slots + slots - index % slots) % slots);
}

static enum step take_call(struct walking *walking, struct call call)
{
	if (!stack_push(walking->places, walking->stack, call))
		return end_with(walking, LBR_END_OVERWRITTEN);
	walking->now = call.place;
	return STEP_ON;
}

/* Whether LBR entry `index` can have entered the frame that executes at `now`. */
static bool entry_fits(const struct walking *walking, u32 index, struct call *ret_call)
{
	const struct snapshot *snapshot = walking->snapshot;
	const struct place_step *step;

	if (index >= snapshot->entry_count)
		return false;
	step = places_step(walking->places, index);
	*ret_call = (struct call){.from = snapshot->entries[index].from,
				  .place = step->from_place,
				  .entry = step->to_place,
				  .origin = ORIGIN_LBR};
	return places_step_fits(walking->places, step,
				places_at(walking->places, walking->now)->body);
}

/* Where the frame that is looked at executes. */
static u64 now_address(const struct walking *walking)
{
	const struct stack *stack = walking->stack;

	return stack->count ? stack->calls[stack->count - 1].from : walking->snapshot->leaf;
}

/* A call that must have been, whatever the registers hold: within a copy of a binary. */
static enum step step_by_proof(struct walking *walking, u8 end)
{
	enum { PROVED_MAX = 256 };
	struct places *places = walking->places;
	place_id call = places_only_call(places, walking->now);
	u64 address = call ? places_address_beside(places, walking->snapshot->pid, call,
						   now_address(walking))
			   : 0;

	if (!address)
		return end_with(walking, end);
	/* Functions that call only each other are never entered: somebody jumps in unseen. */
	if (++walking->proved > PROVED_MAX) {
		walking->stack->count -= PROVED_MAX;
		return end_with(walking, end);
	}
	return take_call(walking, (struct call){.from = address,
						.place = call,
						.entry = walking->now,
						.origin = ORIGIN_STITCHED});
}

static enum step step_by_entry(struct walking *walking)
{
	const struct snapshot *snapshot = walking->snapshot;
	struct call call;

	if (walking->entry >= snapshot->entry_count)
		return step_by_proof(walking,
				     snapshot->entry_count ? LBR_END_OVERWRITTEN : LBR_END_EMPTY);
	if (!entry_fits(walking, walking->entry, &call))
		return end_with(walking, LBR_END_CONTRADICTED);
	walking->proved = 0;
	walking->entry++;
	return take_call(walking, call);
}

/* Whether the next frame pointer confirms that the caller executes at `from`. */
static bool pointer_confirms(const struct walking *walking, place_id from)
{
	const struct snapshot *snapshot = walking->snapshot;
	const struct place_return *found;

	if (places_at(walking->places, from)->pointer != POINTER_FRAME ||
	    walking->caller >= snapshot->caller_count)
		return false;
	found = places_return(walking->places, snapshot->pid, from,
			      snapshot->callers[walking->caller].address);
	return found->entry && found->fits;
}

/* Whether no other entry from `index` on would do as well. */
static bool is_only_fit(const struct walking *walking, u32 index)
{
	const struct branch *entries = walking->snapshot->entries;
	struct call call;

	for (u32 i = index + 1; i < walking->snapshot->entry_count; i++)
		if (entries[i].from != entries[index].from && entry_fits(walking, i, &call) &&
		    pointer_confirms(walking, call.place))
			return false;
	return true;
}

/* The frame pointer is a caller's: nothing but the LBR (or a proof) can tell this call. */
static enum step step_between(struct walking *walking)
{
	const struct snapshot *snapshot = walking->snapshot;
	struct call call;

	if (walking->entry >= snapshot->entry_count ||
	    (!walking->stack->is_shifted && entry_fits(walking, walking->entry, &call)))
		return step_by_entry(walking);
	for (u32 i = walking->entry; i < snapshot->entry_count; i++) {
		if (!entry_fits(walking, i, &call) || !pointer_confirms(walking, call.place))
			continue;
		if (!is_only_fit(walking, i))
			break;
		walking->stack->is_shifted |= i != walking->entry;
		walking->entry = i + 1;
		walking->proved = 0;
		return take_call(walking, call);
	}
	return step_by_proof(walking, LBR_END_CONTRADICTED);
}

/* Finds the LBR entry of a call that is known to be on the stack, and goes on behind it. */
static u8 pass_entry(struct walking *walking, u64 from)
{
	const struct snapshot *snapshot = walking->snapshot;
	struct call call;

	for (u32 i = walking->entry; i < snapshot->entry_count; i++) {
		if (snapshot->entries[i].from != from || !entry_fits(walking, i, &call))
			continue;
		walking->stack->is_shifted |= i != walking->entry;
		walking->entry = i + 1;
		return ORIGIN_LBR;
	}
	walking->stack->is_shifted |= walking->entry < snapshot->entry_count;
	return snapshot->is_unwound ? ORIGIN_EH_FRAME : ORIGIN_FRAME_POINTER;
}

static enum step step_by_pointer(struct walking *walking)
{
	const struct snapshot *snapshot = walking->snapshot;
	u64 back = snapshot->callers[walking->caller].address;
	const struct place_return *found = places_return(walking->places, snapshot->pid,
							 walking->now, back);
	struct call call = {.place = found->call, .entry = found->entry};

	if (found->is_signal)
		return end_with(walking, LBR_END_SIGNAL);
	if (!found->fits)
		return end_wrong(walking);
	walking->caller++;
	walking->proved = 0;
	call.from = back - places_at(walking->places, call.place)->call_bytes;
	call.origin = pass_entry(walking, call.from);
	if (take_call(walking, call) == STEP_ENDED)
		return STEP_ENDED;
	walking->sure = walking->stack->count;
	return STEP_ON;
}

static enum step step(struct walking *walking)
{
	const struct snapshot *snapshot = walking->snapshot;
	const struct place *now = places_at(walking->places, walking->now);

	if (now->is_outermost)
		return end_with(walking, LBR_END_WHOLE);
	if (now->is_signal)
		return end_with(walking, LBR_END_SIGNAL);
	if (walking->caller >= snapshot->caller_count)
		walking->has_pointers = false;
	if (walking->has_pointers && (snapshot->is_unwound || now->pointer == POINTER_FRAME))
		return step_by_pointer(walking);
	if (walking->has_pointers && now->pointer == POINTER_CALLERS)
		return step_between(walking);
	walking->has_pointers = false;
	/* Registers that have been wrong are not believed without a witness. */
	if (walking->stack->is_shifted)
		return step_by_proof(walking, LBR_END_CONTRADICTED);
	return step_by_entry(walking);
}

/* As step() would, for as long as entries fit and nothing else is to be asked. */
static void step_by_entries(struct walking *walking)
{
	const struct snapshot *snapshot = walking->snapshot;
	const struct place *now = places_at(walking->places, walking->now);
	bool ends = now->is_outermost || now->is_signal;
	struct stack *stack = walking->stack;
	u32 body = now->body;
	u8 pointer = now->pointer;

	while (!ends && walking->entry < snapshot->entry_count && stack->count < STACK_CALLS_MAX) {
		const struct branch *entry = &snapshot->entries[walking->entry];
		const struct place_step *step;

		if (walking->has_pointers && (pointer == POINTER_FRAME || snapshot->is_unwound))
			return;
		walking->has_pointers &= pointer == POINTER_CALLERS;
		step = places_step(walking->places, walking->entry);
		if (!places_step_fits(walking->places, step, body))
			return;
		stack->calls[stack->count++] = (struct call){
			.from = entry->from,
			.return_address = behind(entry->from, step->call_bytes),
			.place = step->from_place,
			.entry = step->to_place,
			.origin = ORIGIN_LBR,
		};
		walking->now = step->from_place;
		walking->entry++;
		walking->proved = 0;
		body = step->from_body;
		pointer = step->pointer;
		ends = step->ends;
	}
}

void walk(struct places *places, const struct snapshot *snapshot, struct stack *ret_stack)
{
	struct walking walking = {
		.places = places,
		.snapshot = snapshot,
		.stack = ret_stack,
		.has_pointers = snapshot->caller_count > 0,
	};

	ret_stack->count = 0;
	ret_stack->is_shifted = false;
	ret_stack->end = LBR_END_EMPTY;
	walking.now = snapshot->leaf_place;
	places_expect_steps(places, snapshot->pid, snapshot->entries, snapshot->entry_count);
	do {
		if (!ret_stack->is_shifted)
			step_by_entries(&walking);
	} while (step(&walking) == STEP_ON);
	ret_stack->sure = walking.sure;
	ret_stack->entries = walking.entry;
	ret_stack->by_hardware = ret_stack->end == LBR_END_WHOLE && !ret_stack->is_shifted &&
				 walking.entry == ret_stack->count;
}
