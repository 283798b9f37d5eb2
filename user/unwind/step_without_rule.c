/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The steps of bpf/frame_pointer.bpf.h over a copy. Frame pointers are followed on x86-64 only: in
 * Arm's code without rules they do not tell where the caller's stack pointer is.
 */
#include "unwind/step_without_rule.h"

#include "bpfprof/code_bytes.h"
#include "bpfprof/code_step.h"

#include <string.h>

/* A process's first code may align its stack pointer. Source: psABI AMD64, 3.4.1, and AAPCS64. */
enum { STACK_ALIGNMENT = 16 };

bool copied_word(void *context, u64 address, u64 *ret_word)
{
	struct copied_walk *walk = context;
	const struct copied_stack *stack = &walk->stack;
	u64 distance = address - stack->start;

	if (distance >= stack->length || stack->length - distance < sizeof(*ret_word)) {
		/* Below the copy there is only what signal handlers with a stack of their own have
		 * interrupted. */
		walk->is_missed |= address + sizeof(*ret_word) > stack->start + stack->length ||
				   walk->frame.sp < stack->start;
		return false;
	}
	memcpy(ret_word, stack->bytes + distance, sizeof(*ret_word));
	return true;
}

static bool read_code(const struct copied_walk_world *world, u64 address,
		      struct code_around *ret_code)
{
	*ret_code = (struct code_around){0};
	return world->read_code && world->read_code(world->context, address, ret_code);
}

static enum code_state state_at(const struct copied_walk_world *world, u64 address)
{
	struct code_place place;

	return world->find_code(world->context, address, &place);
}

static bool is_after_call(const struct copied_walk_world *world, u64 pc)
{
	struct code_around code;

	return state_at(world, pc - 1) != CODE_NOWHERE && read_code(world, pc, &code) &&
	       code_call_ends(world->machine, code.before);
}

/* --- what frame pointers have found --- */

/* Whether the frame's own frame pointer leads up the stack to the record of another frame, whose pc
 * lies in code. */
static bool chain_goes_on(struct copied_walk *walk, const struct copied_walk_world *world)
{
	u64 address = walk->frame.fp, pc = 0;

	if ((address & 7) || address < walk->frame.sp)
		return false;
	return copied_word(walk, address + sizeof(u64), &pc) &&
	       state_at(world, unwind_code_address(world->machine, pc)) != CODE_NOWHERE;
}

/* Whether a function with a rule begins at `address`. */
static bool calls_with_rule(const struct copied_walk_world *world, u64 address)
{
	struct code_around code;
	struct code_place place;

	if (!read_code(world, address, &code) || code_is_jump_stub(code.at) ||
	    world->find_code(world->context, address, &place) != CODE_READY)
		return false;
	return unwind_find(&place.table, place.file_offset, world->read_chunk, world->chunks);
}

bool frame_is_believed(struct copied_walk *walk, const struct copied_walk_world *world)
{
	struct code_around code;
	u64 target;

	/* Code that was made at run time was not copied. */
	if (walk->state == CODE_ANONYMOUS)
		return world->read_code && chain_goes_on(walk, world);
	if (!read_code(world, walk->frame.pc, &code) ||
	    !code_call_ends(world->machine, code.before))
		return false;
	/* It has called a function with a rule, whose frame has been passed over: the frame pointer
	 * was not that of the frame below. */
	target = code_call_target(world->machine, code.before, walk->frame.pc);
	return !target || !calls_with_rule(world, target);
}

/* --- steps --- */

/* Steps from the first instruction of a function, which has not touched its stack yet. Returns
 * false, and has done nothing, if it is not one: the same instructions stand elsewhere too. */
static bool step_from_entry(struct copied_walk *walk, const struct copied_walk_world *world,
			    const struct code_around *code)
{
	struct unwind_frame *frame = &walk->frame;
	u64 pc = frame->lr;

	if (!frame->is_exact || !code_is_entry(world->machine, code->at))
		return false;
	if (world->machine == UNWIND_X86_64 && !copied_word(walk, frame->sp, &pc))
		return false;
	pc = unwind_code_address(world->machine, pc);
	if (!is_after_call(world, pc))
		return false;
	frame->pc = pc;
	frame->sp += world->machine == UNWIND_X86_64 ? sizeof(u64) : 0;
	return true;
}

/* Steps to the caller. Returns END_UNKNOWN if there is one, else why the stack ends. */
static u8 step_by_frame_pointer(struct copied_walk *walk, const struct copied_walk_world *world)
{
	struct unwind_frame *frame = &walk->frame;
	u64 address = frame->fp, fp = 0, pc = 0;

	if (!address)
		return END_COMPLETE;
	if (world->machine != UNWIND_X86_64 || frame->fp_is_lost || (address & 7) ||
	    address < frame->sp)
		return END_BROKEN;
	if (!copied_word(walk, address, &fp) || !copied_word(walk, address + sizeof(u64), &pc))
		return END_UNREADABLE;
	frame->sp = address + 2 * sizeof(u64);
	frame->fp = fp;
	frame->pc = pc;
	return pc ? END_UNKNOWN : END_COMPLETE;
}

/* Whether the stub that the frame is in has put the link register on the stack. */
static bool has_stub_pushed(const struct copied_walk *walk, const struct copied_walk_world *world,
			    const struct code_around *code)
{
	u32 back = code_stub_push_bytes(code->at);
	struct code_around first;

	return back && read_code(world, walk->frame.pc - back, &first) &&
	       code_is_stub_push((u32)first.at);
}

/* Neither the dynamic linker nor musl says with a rule where a process begins. */
static bool is_first_frame(const struct copied_walk *walk)
{
	u64 first = walk->stack.first_sp;

	return first && walk->frame.sp + STACK_ALIGNMENT > first;
}

static u8 step_by_code(struct copied_walk *walk, const struct copied_walk_world *world,
		       const struct code_around *code)
{
	bool is_chain = walk->found_by == WALKER_FRAME_POINTER;
	u8 end = END_UNKNOWN, found_by = 0;

	if (!step_from_entry(walk, world, code)) {
		end = step_by_frame_pointer(walk, world);
		found_by = WALKER_FRAME_POINTER;
	}
	/* A frame pointer of zero marks the outermost frame only in a chain of them. */
	if (end)
		return end == END_COMPLETE && is_chain ? end : walk->doubt;
	walk->found_by = found_by;
	walk->frame.is_exact = 0;
	walk->frame.has_lr = 0;
	walk->frame.has_registers = 0;
	walk->frame.rbx_at = 0;
	return END_UNKNOWN;
}

u8 step_without_rule(struct copied_walk *walk, const struct copied_walk_world *world)
{
	struct unwind_memory memory = {.read_word = copied_word, .context = walk};
	struct code_around code;

	walk->doubt = walk->state == CODE_UNREAD ? END_NOT_ANALYSED : END_NO_TABLE;
	if (is_first_frame(walk))
		return END_COMPLETE;
	if (!world->read_code)
		return walk->doubt;
	/* Of what is not known to be code nothing is concluded. */
	if (!read_code(world, walk->frame.pc, &code) && walk->state != CODE_ANONYMOUS)
		return walk->doubt;
	if (code_is_sigreturn(world->machine, code.at, code.behind) ||
	    (walk->frame.is_exact && code_was_sigreturn(world->machine, code.before))) {
		walk->found_by = WALKER_EH_FRAME; /* as surely as by a rule */
		walk->walked |= WALKER_EH_FRAME;
		return code_step_over_signal(world->machine, &walk->frame, memory);
	}
	if (walk->frame.has_lr && code_is_stub(world->machine, code.before, code.at)) {
		walk->found_by = 0;
		return code_step_over_stub(world->machine, &walk->frame,
					   has_stub_pushed(walk, world, &code));
	}
	return step_by_code(walk, world, &code);
}
