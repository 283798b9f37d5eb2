/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk of bpf/user_stack.bpf.h over a copy. What could only be found by frame pointers is not
 * looked for: whether they can be believed is known from the code around them.
 */
#include "unwind/copied_walk.h"

#include "bpfprof/unwind_step.h"

#include <string.h>

/* A process's first code may align its stack pointer. Source: psABI AMD64, 3.4.1, and AAPCS64. */
enum { STACK_ALIGNMENT = 16 };

/* An unwind_read_word; `context` is the rest of a stack. */
static bool read_copied_word(void *context, u64 address, u64 *ret_word)
{
	const struct stack_rest *rest = context;
	u64 distance = address - rest->stack_start;

	if (distance >= rest->stack_bytes || rest->stack_bytes - distance < sizeof(*ret_word))
		return false;
	memcpy(ret_word, rest->stack + distance, sizeof(*ret_word));
	return true;
}

/* The rule that holds at the frame's pc, NULL if there is none. */
static const struct unwind_rule *find_rule(const struct copied_walk_world *world,
					   const struct code_place *place)
{
	const struct unwind_rule *rule = unwind_find(&place->table, place->file_offset,
						     world->read_chunk, world->chunks);

	return rule && rule->cfa_kind != CFA_NONE ? rule : NULL;
}

/* Neither the dynamic linker nor musl says with a rule where a process begins. */
static bool is_first_frame(const struct copied_walk *walk)
{
	u64 start = walk->rest->start_stack;

	return start && walk->frame.sp + STACK_ALIGNMENT > start;
}

/* Takes the frame that the walk is at, and steps to its caller. Returns END_UNKNOWN if there is
 * one. */
static u8 take_frame(struct copied_walk *walk, const struct copied_walk_world *world)
{
	struct unwind_memory memory = {.read_word = read_copied_word,
				       .context = (void *)walk->rest};
	const struct unwind_rule *rule = NULL;
	struct code_place place;
	enum code_state state = world->find_code(world->context, unwind_find_address(&walk->frame),
						 &place);

	if (state == CODE_AWAITED)
		return WALK_AWAITS;
	if (state == CODE_NOWHERE || walk->found_by == WALKER_FRAME_POINTER ||
	    walk->frame.sp_is_lost)
		return END_NOT_ANALYSED;
	if (state == CODE_READY)
		rule = find_rule(world, &place);
	walk->frames[walk->count++] = walk->frame.pc;
	walk->walked |= walk->found_by;
	if (rule) {
		walk->found_by = WALKER_EH_FRAME;
		walk->walked |= WALKER_EH_FRAME;
		return unwind_step(world->machine, &walk->frame, rule, memory);
	}
	if (is_first_frame(walk))
		return END_COMPLETE;
	return state == CODE_UNREAD ? END_NOT_ANALYSED : END_NO_TABLE;
}

struct copied_walk copied_walk_begin(const struct stack_rest *rest, u64 *frames, u32 most)
{
	return (struct copied_walk){
		.rest = rest,
		.frame = rest->frame,
		.found_by = rest->found_by,
		.walked = rest->walked,
		.frames = frames,
		.most = most,
	};
}

u8 copied_walk_go_on(struct copied_walk *walk, const struct copied_walk_world *world)
{
	while (walk->count < walk->most) {
		u8 end = take_frame(walk, world);

		if (end == END_UNREADABLE) /* in the copy: it says nothing of the stack itself */
			return END_NOT_ANALYSED;
		if (end != END_UNKNOWN)
			return end;
	}
	return END_TOO_DEEP;
}
