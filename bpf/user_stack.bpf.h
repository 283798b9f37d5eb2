/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user stack, by frame pointers.
 *
 * We walk it ourselves where the kernel lends us the task's user registers (Linux 5.15), because
 * bpf_get_stack() does not say why it stopped; 32-bit tasks and older kernels get bpf_get_stack().
 */
#ifndef USER_STACK_BPF_H
#define USER_STACK_BPF_H

#include "maps.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* Source: include/linux/sched.h, unchanged since 2.6. */
enum { TASK_IS_KERNEL_THREAD = 0x00200000 };

/* A jump over more than this, to memory that cannot be read, was no frame pointer: the usual limit
 * of a stack. */
enum { LIKELY_STACK_BYTES = 8 * 1024 * 1024 };

/* Where the walk is, and where its frames go. */
struct user_walk {
	u64 pc, frame_pointer;
	u64 below;  /* the stack has been read up to here: frame pointers lie at or above it */
	u32 first;  /* row of `frames` for the first one */
	u32 frames; /* found so far */
	u8 end;	    /* enum user_stack_end */
};

#if defined(__TARGET_ARCH_x86)
/* Source: arch/x86/include/asm/segment.h, __USER32_CS. */
enum { USER32_CODE_SEGMENT = 0x23 };

static __always_inline bool is_user_mode(const bpf_user_pt_regs_t *regs)
{
	return regs->cs & 3;
}

/* The upper bits of cs are other things since FRED (Linux 6.9). */
static __always_inline bool is_32_bit(const bpf_user_pt_regs_t *regs)
{
	return (regs->cs & 0xffff) == USER32_CODE_SEGMENT;
}

static __always_inline u64 code_address(u64 address)
{
	return address;
}
#elif defined(__TARGET_ARCH_arm64)
/* Source: arch/arm64/include/uapi/asm/ptrace.h: PSR_MODE_MASK, PSR_MODE32_BIT. */
static __always_inline bool is_user_mode(const bpf_user_pt_regs_t *regs)
{
	return (regs->pstate & 0xf) == 0;
}

static __always_inline bool is_32_bit(const bpf_user_pt_regs_t *regs)
{
	return regs->pstate & 0x10;
}

/* Without the pointer authentication code above the 48 bits of a user address. */
static __always_inline u64 code_address(u64 address)
{
	return address & 0x0000ffffffffffffULL;
}
#else
#error "registers of this architecture are not known"
#endif

/* Steps to the caller. False at the end of the stack; walk->end then says why. A frame pointer that
 * does not point up the stack is some other value in that register. */
static __always_inline bool step_by_frame_pointer(struct user_walk *walk)
{
	u64 pair[2]; /* the caller's frame pointer, the return address */

	walk->end = END_COMPLETE;
	if (!walk->frame_pointer)
		return false;
	walk->end = END_BROKEN;
	if ((walk->frame_pointer & 7) || walk->frame_pointer < walk->below)
		return false;
	if (bpf_probe_read_user(pair, sizeof(pair), (const void *)walk->frame_pointer)) {
		if (walk->frame_pointer - walk->below < LIKELY_STACK_BYTES)
			walk->end = END_UNREADABLE;
		return false;
	}
	walk->below = walk->frame_pointer + sizeof(pair);
	walk->frame_pointer = pair[0];
	walk->pc = code_address(pair[1]);
	walk->end = END_COMPLETE;
	return walk->pc != 0;
}

static __always_inline void walk_frame_pointers(struct sample_record *record,
						struct user_walk *walk)
{
	for (u32 i = 0; i < STACK_MAX_FRAMES; i++) {
		u32 row = walk->first + i;

		if (i >= settings.max_stack) {
			walk->end = END_TOO_DEEP;
			return;
		}
		if (row >= sizeof(record->frames) / sizeof(record->frames[0]))
			return;
		record->frames[row] = walk->pc;
		walk->frames = i + 1;
		if (!step_by_frame_pointer(walk))
			return;
	}
	walk->end = END_TOO_DEEP;
}

#endif
