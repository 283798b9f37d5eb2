/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps from a frame to its caller where no rule is needed: what the code is says enough. Pure, as
 * unwind_step.h.
 */
#ifndef BPFPROF_CODE_STEP_H
#define BPFPROF_CODE_STEP_H

#include "bpfprof/event.h"
#include "bpfprof/unwind_frame.h"

/* Makes `frame`, which is in a stub, the one that calls. The link register still holds what the
 * first stub may have pushed. */
static inline __attribute__((always_inline)) u8 code_step_over_stub(enum unwind_machine machine,
								    struct unwind_frame *frame,
								    bool has_pushed)
{
	if (!frame->has_lr)
		return END_BROKEN;
	if (has_pushed)
		frame->sp += 2 * sizeof(u64);
	frame->pc = unwind_code_address(machine, frame->lr);
	frame->is_exact = 0;
	frame->has_lr = 0;
	frame->has_registers = 0;
	return frame->pc ? END_UNKNOWN : END_COMPLETE;
}

/*
 * Makes `frame`, which is at rt_sigreturn, the one that the signal interrupted. Returns
 * END_UNKNOWN, or END_UNREADABLE, or END_UNSUPPORTED if it is not known where the stack pointer is.
 * Source: struct rt_sigframe, its ucontext and sigcontext, from the stack pointer on:
 * arch/x86/include/asm/sigframe.h (behind pretcode), arch/arm64/kernel/signal.c.
 */
static inline __attribute__((always_inline)) u8 code_step_over_signal(enum unwind_machine machine,
								      struct unwind_frame *frame,
								      struct unwind_memory memory)
{
	u64 sp_at = frame->sp + (machine == UNWIND_ARM64 ? 560 : 160);
	u64 fp_at = sp_at - (machine == UNWIND_ARM64 ? 16 : 40);
	u64 lr_at = sp_at - 8;
	u64 sp = 0, pc = 0, fp = 0, lr = 0;

	if (frame->sp_is_lost)
		return END_UNSUPPORTED;
	if (!memory.read_word(memory.context, fp_at, &fp) ||
	    !memory.read_word(memory.context, sp_at, &sp) ||
	    !memory.read_word(memory.context, sp_at + 8, &pc))
		return END_UNREADABLE;
	if (machine == UNWIND_ARM64 && !memory.read_word(memory.context, lr_at, &lr))
		return END_UNREADABLE;
	frame->pc = unwind_code_address(machine, pc);
	frame->sp = sp;
	frame->fp = fp;
	frame->lr = unwind_code_address(machine, lr);
	frame->has_lr = machine == UNWIND_ARM64;
	frame->is_exact = 1;
	frame->has_registers = 0;
	frame->rbx_at = 0;
	frame->fp_is_lost = 0;
	return frame->pc ? END_UNKNOWN : END_COMPLETE;
}

#endif
