/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps out of Arm's code without a rule by what it will do until it returns. What was interrupted
 * anywhere in a function is told exactly: whether the link register is its caller's still, or one
 * that the function has used to call; and where the stack pointer is.
 */
#ifndef WAY_OUT_BPF_H
#define WAY_OUT_BPF_H

#include "bpfprof/code_bytes.h"
#include "user_memory.bpf.h"
#include "user_registers.bpf.h"

/* Whether the bytes of code before `pc` end with a call. */
static __always_inline bool is_after_call(u64 pc)
{
	u64 before = 0;

	return !bpf_probe_read_user(&before, sizeof(before), (const void *)pc - sizeof(before)) &&
	       code_call_ends(MACHINE, before);
}

/* Follows one instruction of walk.way. Returns 0 if the way goes on. Global, see move_window(). */
__noinline int follow_way(void)
{
	struct scratch *scratch = scratch_here();
	u32 instruction = 0;

	if (!scratch || bpf_probe_read_user(&instruction, sizeof(instruction),
					    (const void *)scratch->walk.way.pc))
		return 1;
	return !arm64_follow(&scratch->walk.way, instruction);
}

/* How the code from `pc` on returns: walk.way and its end, enum arm64_way_end. */
static __always_inline u8 find_way_out(struct scratch *scratch, u64 pc)
{
	scratch->walk.way = (struct arm64_way){.pc = pc};
	for (u32 i = 0; i < ARM64_WAY_INSTRUCTIONS; i++)
		if (follow_way())
			break;
	return scratch->walk.way.end;
}

/* Steps from the innermost frame, or one that a signal interrupted. Returns false, and has done
 * nothing, if its code does not tell. */
static __always_inline bool step_by_way_out(struct scratch *scratch)
{
	struct unwind_frame *frame = &scratch->walk.frame;
	const struct arm64_way *way = &scratch->walk.way;
	u64 record, fp = frame->fp, pc = frame->lr;
	u8 end;

	if (MACHINE != UNWIND_ARM64 || !frame->has_lr || !frame->is_exact)
		return false;
	end = find_way_out(scratch, frame->pc);
	if (end == ARM64_WAY_UNKNOWN)
		return false;
	record = (way->is_from_fp ? frame->fp : frame->sp) + (u64)way->record;
	if (end == ARM64_WAY_RECORD && (!read_stack_word(scratch, record, &fp) ||
					!read_stack_word(scratch, record + sizeof(u64), &pc)))
		return false;
	pc = unwind_code_address(MACHINE, pc);
	if (!is_after_call(pc))
		return false;
	frame->sp = record + (u64)(way->sp - way->record);
	frame->fp = fp;
	frame->pc = pc;
	return true;
}

/* Finds the stack pointer of the frame that a frame pointer led to: it is as far above the record
 * as the code that was left will move it until it returns. Returns false if that does not tell. */
static __always_inline bool find_stack_pointer(struct scratch *scratch)
{
	struct user_walk *walk = &scratch->walk;

	if (find_way_out(scratch, walk->left_pc) != ARM64_WAY_RECORD)
		return false;
	walk->frame.sp = walk->left_record + (u64)(walk->way.sp - walk->way.record);
	walk->frame.sp_is_lost = 0;
	return true;
}

#endif
