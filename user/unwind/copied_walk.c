/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk of bpf/user_stack.bpf.h over a copy.
 */
#include "unwind/copied_walk.h"

#include "bpfprof/unwind_step.h"
#include "unwind/step_without_rule.h"

/* The rule that holds at the frame's pc, NULL if there is none. */
static const struct unwind_rule *find_rule(const struct copied_walk_world *world,
					   const struct code_place *place)
{
	const struct unwind_rule *rule = unwind_find(&place->table, place->file_offset,
						     world->read_chunk, world->chunks);

	return rule && rule->cfa_kind != CFA_NONE ? rule : NULL;
}

/* What a function has popped already lies below its stack pointer, where the copy does not reach;
 * many compilers go on to say that it was saved there. The register has it again. */
static struct unwind_rule without_popped(const struct copied_walk *walk,
					 enum unwind_machine machine,
					 const struct unwind_rule *rule)
{
	struct unwind_rule left = *rule;
	u8 sp = machine == UNWIND_X86_64 ? X86_64_SP : ARM64_SP;
	u64 below = walk->stack.start - walk->frame.sp; /* wraps around: what the copy has there */
	s64 lowest = (s64)below - rule->cfa_offset;

	if (rule->cfa_kind != CFA_REGISTER || rule->cfa_register != sp)
		return left;
	if (rule->fp_kind == SAVED_AT_CFA && rule->fp_offset < lowest)
		left.fp_kind = SAVED_SAME;
	if (rule->rbx_words != UNWIND_RBX_LOST && -8 * rule->rbx_words < lowest)
		left.rbx_words = 0;
	return left;
}

/* What is told of the frame. No call stands before what signal handlers return to. */
static u64 place_of(const struct copied_walk *walk, const struct unwind_rule *rule)
{
	return walk->takes_calls && !(rule && rule->is_signal) ? unwind_find_address(&walk->frame)
							       : walk->frame.pc;
}

/* Takes the frame that the walk is at, and steps to its caller. Returns END_UNKNOWN if there is
 * one. */
static u8 take_frame(struct copied_walk *walk, const struct copied_walk_world *world)
{
	struct unwind_memory memory = {.read_word = copied_word, .context = walk};
	const struct unwind_rule *rule = NULL;
	struct unwind_rule left;
	struct code_place place;
	enum code_state state = world->find_code(world->context, unwind_find_address(&walk->frame),
						 &place);

	walk->state = state;
	if (state == CODE_AWAITED)
		return WALK_AWAITS;
	if (state == CODE_NOWHERE || walk->frame.sp_is_lost)
		return END_NOT_ANALYSED;
	if (state == CODE_READY)
		rule = find_rule(world, &place);
	if (walk->found_by == WALKER_FRAME_POINTER && !frame_is_believed(walk, world))
		return walk->doubt;
	walk->frames[walk->count++] = place_of(walk, rule);
	walk->walked |= walk->found_by;
	if (!rule)
		return step_without_rule(walk, world);
	walk->found_by = WALKER_EH_FRAME;
	walk->walked |= WALKER_EH_FRAME;
	left = without_popped(walk, world->machine, rule);
	return unwind_step(world->machine, &walk->frame, &left, memory);
}

struct copied_walk copied_walk_begin(const struct stack_rest *rest, u64 *frames, u32 most)
{
	return (struct copied_walk){
		.stack = {.start = rest->stack_start,
			  .length = rest->stack_bytes,
			  .bytes = rest->stack,
			  .first_sp = rest->start_stack},
		.frame = rest->frame,
		.found_by = rest->found_by,
		.doubt = END_NOT_ANALYSED,
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
