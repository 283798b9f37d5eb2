/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps by frame pointers, and what they are worth in code that may not have any.
 */
#ifndef FRAME_POINTER_BPF_H
#define FRAME_POINTER_BPF_H

#include "bpfprof/code_bytes.h"
#include "bpfprof/code_step.h"
#include "mapping.bpf.h"
#include "way_out.bpf.h"

/* A jump over more than this, to memory that cannot be read, was no frame pointer: the usual limit
 * of a stack. */
enum { LIKELY_STACK_BYTES = 8 * 1024 * 1024 };

/* A process's first code may align its stack pointer. Source: psABI AMD64, 3.4.1, and AAPCS64. */
enum { STACK_ALIGNMENT = 16 };

/* Steps to the caller. Returns END_UNKNOWN if there is one, else why the stack ends. A frame
 * pointer that does not point up the stack is some other value in that register. Arm's code has its
 * record anywhere in its frame: the caller's stack pointer lies somewhere above that. */
static __always_inline u8 step_by_frame_pointer(struct scratch *scratch)
{
	struct unwind_frame *frame = &scratch->walk.frame;
	u64 address = frame->fp, fp = 0, pc = 0;

	if (!address)
		return END_COMPLETE;
	if ((address & 7) || address < frame->sp)
		return END_BROKEN;
	if (!read_stack_word(scratch, address, &fp) ||
	    !read_stack_word(scratch, address + sizeof(u64), &pc))
		return address - frame->sp < LIKELY_STACK_BYTES ? END_UNREADABLE : END_BROKEN;
	scratch->walk.left_pc = frame->pc;
	scratch->walk.left_record = address;
	frame->sp = address + 2 * sizeof(u64);
	frame->sp_is_lost = MACHINE == UNWIND_ARM64;
	frame->fp = fp;
	frame->pc = unwind_code_address(MACHINE, pc);
	return frame->pc ? END_UNKNOWN : END_COMPLETE;
}

/* Whether the frame is the one that the kernel started the process with: neither the dynamic linker
 * nor musl says so with a rule. What lies above is arguments. */
static __always_inline bool is_first_frame(const struct user_walk *walk)
{
	const struct mm_struct *mm = (const void *)walk->mm;

	return walk->frame.sp + STACK_ALIGNMENT > BPF_CORE_READ(mm, start_stack);
}

/* Steps from the first instruction of a function, which has not touched its stack yet. Returns
 * false, and has done nothing, if it is not one: the same instructions stand elsewhere too. */
static __always_inline bool step_from_entry(struct scratch *scratch)
{
	struct unwind_frame *frame = &scratch->walk.frame;
	u64 pc = frame->lr;

	if (!frame->is_exact || !code_is_entry(MACHINE, scratch->walk.code[1]))
		return false;
	if (MACHINE == UNWIND_X86_64 && !read_stack_word(scratch, frame->sp, &pc))
		return false;
	pc = unwind_code_address(MACHINE, pc);
	if (!is_after_call(pc))
		return false;
	frame->pc = pc;
	frame->sp += MACHINE == UNWIND_X86_64 ? sizeof(u64) : 0;
	return true;
}

/* Whether the innermost frame's frame pointer may be its caller's still: on Arm the link register
 * then leads to other code, and not to where the frame pointer does. A link register that leads to
 * the code of the frame itself is one that this has used to call. */
static __always_inline bool may_have_no_record(struct scratch *scratch)
{
	const struct unwind_frame *frame = &scratch->walk.frame;
	u64 lr = unwind_code_address(MACHINE, frame->lr), pc = 0;

	if (MACHINE != UNWIND_ARM64 || !frame->has_lr)
		return false;
	if (read_stack_word(scratch, frame->fp + sizeof(u64), &pc) &&
	    unwind_code_address(MACHINE, pc) == lr)
		return false;
	return find_mapping(scratch, lr - 1) != find_mapping(scratch, frame->pc);
}

/* Whether the stub that the frame is in has put the link register on the stack. */
static __always_inline bool has_stub_pushed(const struct user_walk *walk)
{
	u32 back = code_stub_push_bytes(walk->code[1]), instruction = 0;

	return back &&
	       !bpf_probe_read_user(&instruction, sizeof(instruction),
				    (const void *)walk->frame.pc - back) &&
	       code_is_stub_push(instruction);
}

/* Steps from code that has no rule, for the reason that is `doubt`. A frame pointer of zero marks
 * the outermost frame only in a chain of frame pointers: elsewhere that register is used for
 * anything. Code whose table is still being made mostly has one because it needs one: there the
 * frame pointer may be the caller's, and following it would pass over a frame. walk.code is read.
 */
static __always_inline u8 step_without_rule(struct scratch *scratch)
{
	struct user_walk *walk = &scratch->walk;
	bool is_chain = walk->found_by == WALKER_FRAME_POINTER;
	u8 end, found_by = WALKER_FRAME_POINTER;

	if (walk->mm && is_first_frame(walk))
		return END_COMPLETE;
	if (walk->frame.has_lr && code_is_stub(MACHINE, walk->code[0], walk->code[1])) {
		walk->found_by = 0;
		return code_step_over_stub(MACHINE, &walk->frame, has_stub_pushed(walk));
	}
	if (!(settings.walkers & WALKER_FRAME_POINTER))
		return walk->doubt;
	if (step_from_entry(scratch) || step_by_way_out(scratch))
		end = found_by = 0; /* by neither */
	else if (walk->frame.fp_is_lost || walk->doubt == END_NOT_ANALYSED ||
		 may_have_no_record(scratch))
		end = walk->doubt;
	else
		end = step_by_frame_pointer(scratch);
	if (end)
		return end == END_COMPLETE && is_chain ? end : walk->doubt;
	walk->found_by = found_by;
	walk->frame.is_exact = 0;
	walk->frame.has_lr = 0;
	walk->frame.has_registers = 0;
	walk->frame.rbx_at = 0;
	return END_UNKNOWN;
}

/* Whether the frame's own frame pointer leads up the stack to the record of another frame, whose pc
 * lies in code. Global, see move_window(). */
__noinline int chain_goes_on(void)
{
	struct scratch *scratch = scratch_here();
	u64 address, pc = 0;

	if (!scratch)
		return false;
	address = scratch->walk.frame.fp;
	if ((address & 7) || address < scratch->walk.frame.sp)
		return false;
	return read_stack_word(scratch, address + sizeof(u64), &pc) &&
	       find_mapping(scratch, unwind_code_address(MACHINE, pc)) < MAPPINGS_KNOWN;
}

/* Whether the pc that was found in the record of a frame pointer is a return address: a call stands
 * before it. Interpreters that are made at run time put theirs onto the stack in other ways; then
 * there must be another record where this one leads to. `row` is the mapping's; walk.code is read.
 */
static __always_inline bool is_return_address(struct scratch *scratch, u32 row)
{
	const struct known_process *process = known_process(scratch);

	if (code_call_ends(MACHINE, scratch->walk.code[0]))
		return true;
	return row < MAPPINGS_KNOWN && process->mappings[row].table.state == MAPPING_ANONYMOUS &&
	       chain_goes_on();
}

#endif
