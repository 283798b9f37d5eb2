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

enum { PAIR_BYTES = 2 * sizeof(u64), WINDOW_BYTES = WINDOW_WORDS * sizeof(u64) };

/* Gets the pair of words at `address` into the window. Reading user memory costs 70 ns however
 * little it is, and callers' frames lie close together, so more is read than is needed now; not at
 * the end of the mapping, where that fails. */
static __always_inline bool look_at(struct scratch *scratch, u64 address)
{
	struct user_walk *walk = &scratch->walk;

	/* Unsigned: an address below the window is far beyond it, too. */
	if (address - walk->window <= walk->window_bytes - PAIR_BYTES)
		return true;
	walk->window = address;
	walk->window_bytes = WINDOW_BYTES;
	if (!bpf_probe_read_user(scratch->window, WINDOW_BYTES, (const void *)address))
		return true;
	walk->window_bytes = PAIR_BYTES;
	return !bpf_probe_read_user(scratch->window, PAIR_BYTES, (const void *)address);
}

/* Steps to the caller. Returns END_UNKNOWN if there is one, else why the stack ends. A frame
 * pointer that does not point up the stack is some other value in that register. */
static __always_inline u8 step_by_frame_pointer(struct scratch *scratch)
{
	struct user_walk *walk = &scratch->walk;
	u64 address = walk->frame_pointer;
	u32 word;

	if (!address)
		return END_COMPLETE;
	if ((address & 7) || address < walk->below)
		return END_BROKEN;
	if (!look_at(scratch, address))
		return address - walk->below < LIKELY_STACK_BYTES ? END_UNREADABLE : END_BROKEN;
	word = (address - walk->window) / sizeof(u64) & (WINDOW_WORDS - 1);
	walk->below = address + PAIR_BYTES;
	walk->frame_pointer = scratch->window[word];
	walk->pc = code_address(scratch->window[word + 1]);
	return walk->pc ? END_UNKNOWN : END_COMPLETE;
}

static __always_inline void walk_frame_pointers(struct scratch *scratch)
{
	struct sample_record *record = &scratch->record;
	u32 first = record->header.kernel_frames;
	struct user_walk *walk = &scratch->walk;

	if (first > STACK_MAX_FRAMES)
		return;
	record->header.walked |= WALKER_FRAME_POINTER;
	walk->window = 0; /* where no frame is */
	walk->window_bytes = PAIR_BYTES;
	for (u32 i = 0; i < STACK_MAX_FRAMES && i < settings.max_stack; i++) {
		record->frames[first + i] = walk->pc;
		record->header.user_frames = i + 1;
		record->header.end = step_by_frame_pointer(scratch);
		barrier(); /* one way out of the loop, not one for each reason */
		if (record->header.end != END_UNKNOWN)
			return;
	}
	record->header.end = END_TOO_DEEP;
}

#endif
