/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps towards the thread's start for as long as only one is possible.
 *
 * (register number - calls on the stack) modulo the number of registers is the same for a thread
 * all its life, as long as calls and returns balance. It is known once a stack was seen whole, and
 * tells of every other stack how many calls are missing, modulo that number.
 */
#include "lbr/extend.h"

enum { ANY_LENGTH = ~0U };

/* How many calls are missing, modulo the depth. */
static u32 missing_calls(const struct extension *extension)
{
	const struct snapshot *snapshot = extension->snapshot;
	struct thread_facts *thread = extension->thread;
	u32 depth = snapshot->depth;

	if (snapshot->hw_idx == ~0ULL || !thread_has_constant(thread, snapshot->time_ns))
		return ANY_LENGTH;
	return (stack_slot(snapshot, extension->stack->count) + depth - thread->constant) % depth;
}

static bool is_possible(const struct extension *extension, place_id place, u32 length)
{
	return length == ANY_LENGTH ? graph_has_way(extension->graph, place)
				    : graph_has_length(extension->graph, place, length);
}

static u32 one_less(const struct extension *extension, u32 length)
{
	u32 depth = extension->snapshot->depth;

	return length == ANY_LENGTH ? length : (length + depth - 1) % depth;
}

/* The only CALL that can have entered the frame at `now`; 0: none or several. */
static place_id only_caller(const struct extension *extension, place_id now, u32 length,
			    u64 *ret_address)
{
	struct graph_cursor cursor = {0};
	place_id only = 0, caller;

	while ((caller = graph_next_caller(extension->graph, now, &cursor))) {
		u64 address;

		if (caller == only || !is_possible(extension, caller, one_less(extension, length)))
			continue;
		address = places_address(extension->places, extension->snapshot->pid, caller);
		if (!address)
			continue; /* seen in another program */
		if (only || address == ADDRESS_SEVERAL)
			return 0;
		only = caller;
		*ret_address = address;
	}
	return only;
}

/* Whether one of the CALLs before this one, in the order of the graph, is in the same function. */
static bool is_of_earlier(const struct extension *extension, place_id now, place_id call)
{
	u32 body = places_at(extension->places, call)->body;
	struct graph_cursor cursor = {0};
	place_id earlier;

	while ((earlier = graph_next_caller(extension->graph, now, &cursor)) != call)
		if (places_at(extension->places, earlier)->body == body)
			return true;
	return false;
}

/* Whether no other function can have called than those that were seen calling. Of several CALLs in
 * one of these, one that no sample shows is the same frame but for its line. */
static bool saw_all_callers(const struct extension *extension, place_id now)
{
	u32 calls = places_calls(extension->places, now), seen = 0, known = 0;
	struct graph_cursor cursor = {0};
	place_id call;

	while (graph_next_caller(extension->graph, now, &cursor))
		seen++;
	if (seen == calls)
		return true;
	cursor = (struct graph_cursor){0};
	while ((call = graph_next_caller(extension->graph, now, &cursor)))
		if (!is_of_earlier(extension, now, call))
			known += places_calls_from(extension->places, now, call);
	return known == calls;
}

/* Whether more can have called than were seen: a caller that no sample shows may be there whenever
 * the thread is too deep for it. Code that is pointed at can be called by anybody: so are main and
 * what threads begin with, of which the caller is known. */
static bool is_open(const struct extension *extension, place_id now)
{
	return places_calls(extension->places, now) != CALLS_UNKNOWN &&
	       !saw_all_callers(extension, now);
}

static bool can_start(const struct extension *extension, place_id now, u32 length)
{
	return graph_is_outermost(extension->graph, now) && (length == ANY_LENGTH || !length);
}

static u8 step_on(const struct extension *extension)
{
	struct stack *stack = extension->stack;
	u32 length = missing_calls(extension);

	for (;;) {
		place_id now = stack_frame(extension->snapshot, stack, stack->count);
		bool is_start = can_start(extension, now, length);
		struct call call = {.entry = now, .origin = ORIGIN_STITCHED};

		if (is_open(extension, now))
			return LBR_END_UNSEEN;
		call.place = only_caller(extension, now, length, &call.from);
		if (is_start && !call.place)
			return LBR_END_WHOLE;
		if (is_start || !call.place || !stack_push(extension->places, stack, call))
			return LBR_END_SEVERAL;
		length = one_less(extension, length);
	}
}

u32 extend_to_start(const struct extension *extension)
{
	struct stack *stack = extension->stack;
	u32 first = stack->count, reached;

	if (!graph_is_known(extension->graph, extension->snapshot->depth))
		return 0;
	if (!graph_is_closed(extension->graph,
			     stack_frame(extension->snapshot, stack, stack->count))) {
		stack->end = LBR_END_UNSEEN;
		return 0;
	}
	stack->end = step_on(extension);
	reached = stack->count;
	/* Callers were left out by the ways to the start that were seen above them: they may have
	 * others. */
	if (stack->end != LBR_END_WHOLE)
		stack->count = first;
	return reached - first;
}
