/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a frame of the kernel stack to its caller, by the kernel's own unwind rules (ORC, x86-64).
 */
#ifndef KERNEL_STEP_BPF_H
#define KERNEL_STEP_BPF_H

#include "kernel_known.bpf.h"
#include "process.bpf.h"
#include "user_registers.bpf.h"

#if defined(__TARGET_ARCH_x86)

/* Source: arch/x86/include/asm/processor-flags.h: set in all flags that a CPU has pushed. */
enum { FLAGS_FIXED = 2 };

enum kernel_step { STEP_ON, STEP_END, STEP_UNKNOWN };

/* What a CPU pushes when it is interrupted, the end of saved registers. */
struct pushed_registers {
	u64 pc, cs, flags, sp, ss;
};

/* The user's registers where the kernel was entered end its stack. Its own, where it has met an
 * exception (most are pages that it copies to or from), lie on the same stack. */
static __always_inline u32 step_to_registers(struct kernel_walk *walk, u64 address)
{
	struct pushed_registers pushed = {};
	u64 pushed_at = address + offsetof(bpf_user_pt_regs_t, rip);
	u64 fp_at = address + offsetof(bpf_user_pt_regs_t, rbp);

	if (bpf_probe_read_kernel(&pushed, sizeof(pushed), (const void *)pushed_at) ||
	    !(pushed.flags & FLAGS_FIXED))
		return STEP_UNKNOWN;
	if (pushed.cs & 3)
		return STEP_END;
	if (pushed.sp <= address || pushed.sp - address > KERNEL_STACK_BYTES ||
	    bpf_probe_read_kernel(&walk->fp, sizeof(walk->fp), (const void *)fp_at))
		return STEP_UNKNOWN;
	walk->pc = pushed.pc;
	walk->sp = pushed.sp;
	walk->is_exact = 1;
	return STEP_ON;
}

/* The CFA where it is in memory; 0 if it cannot be. By the stack pointer it leads off an
 * interrupt's stack, onto the thread's own. */
static __always_inline u64 read_cfa(const struct kernel_walk *walk, union kernel_rule rule)
{
	u64 offset = (u64)(s64)rule.cfa_offset, cfa = 0;

	if (rule.base != X86_64_SP) {
		bpf_probe_read_kernel(&cfa, sizeof(cfa), (const void *)(walk->fp + offset));
		return cfa - walk->sp > KERNEL_STACK_BYTES ? 0 : cfa;
	}
	if (bpf_probe_read_kernel(&cfa, sizeof(cfa), (const void *)walk->sp))
		return 0;
	cfa += offset;
	return cfa - (u64)CURRENT_TASK_FIELD(stack) > KERNEL_STACK_BYTES ? 0 : cfa;
}

/* Makes the walk's frame its caller. Returns STEP_ON if there is one. */
static __always_inline u32 step_by_orc(struct kernel_walk *walk, union kernel_rule rule)
{
	u64 cfa = (rule.base == X86_64_SP ? walk->sp : walk->fp) + (u64)(s64)rule.cfa_offset;
	u64 fp_at;

	if (rule.frame == KERNEL_FRAME_LAST)
		return STEP_END;
	if (rule.frame == KERNEL_FRAME_INDIRECT)
		cfa = read_cfa(walk, rule);
	else if (rule.frame == KERNEL_FRAME_UNKNOWN || cfa - walk->sp > KERNEL_STACK_BYTES)
		return STEP_UNKNOWN;
	if (rule.frame == KERNEL_FRAME_REGISTERS)
		return step_to_registers(walk, cfa);
	fp_at = (rule.fp_kind == SAVED_AT_FP ? walk->fp : cfa) + (u64)(s64)rule.fp_offset;
	if (!cfa || cfa == walk->sp ||
	    bpf_probe_read_kernel(&walk->pc, sizeof(walk->pc), (const void *)(cfa - sizeof(u64))))
		return STEP_UNKNOWN;
	if (rule.fp_kind != SAVED_SAME &&
	    bpf_probe_read_kernel(&walk->fp, sizeof(walk->fp), (const void *)fp_at))
		return STEP_UNKNOWN;
	walk->sp = cfa;
	walk->is_exact = 0;
	return STEP_ON;
}

#endif
#endif
