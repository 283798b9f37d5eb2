/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel stack, walked by the kernel's own unwind rules (ORC, x86-64).
 *
 * The kernel's walker looks each frame up in tables of some megabytes. Between two samples of a
 * second's hundred these fall out of the caches, which makes it a microsecond a frame; remembered
 * rules cost a fraction. What is not plain (other stacks, interrupts that came on them, modules,
 * trampolines) or has no rule is left to the kernel's walker. That the tables mean what we think is
 * proved: the first stacks of each CPU, and one in thousands after them, are walked by the kernel
 * too. The first difference ends it for all.
 */
#ifndef KERNEL_STACK_BPF_H
#define KERNEL_STACK_BPF_H

#include "kernel_step.bpf.h"
#include "user_registers.bpf.h"

enum {
	KERNEL_WALKS_PROVED = 64,	    /* the first ones of a CPU, all of them */
	KERNEL_PROOF_EVERY = 4096,	    /* of those that follow; a power of two */
	KERNELS_ROW = STACK_MAX_FRAMES + 1, /* where the kernel's frames lie meanwhile */
};

/* Raised here, for good, when the kernel has walked a stack otherwise. */
volatile u32 kernel_rules_off = 0;

#if defined(__TARGET_ARCH_x86)

/* Takes the frame that the walk is at, and steps to its caller. Global, see move_window(). */
__noinline int take_kernel_frame(u32 row)
{
	struct scratch *scratch = scratch_here();
	struct kernel_walk *walk;
	u64 address;

	if (!scratch || row > STACK_MAX_FRAMES)
		return STEP_UNKNOWN;
	walk = &scratch->kernel_walk;
	address = walk->pc - !walk->is_exact;
	if (address < settings.kernel_rules.text_start ||
	    address >= settings.kernel_rules.text_end ||
	    address - settings.kernel_rules.text_start >= ORC_CODE_BYTES ||
	    walk->pc == settings.kernel_rules.trampolines[0] ||
	    walk->pc == settings.kernel_rules.trampolines[1])
		return STEP_UNKNOWN;
	scratch->record.frames[row] = walk->pc;
	return step_by_orc(walk, kernel_rule_at(address));
}

/* The kernel stack into the first rows; how many frames goes into the walk, one more than wanted if
 * there are more. 0: the kernel's walker is to do it. */
static __always_inline void walk_kernel_stack(struct bpf_perf_event_data *ctx,
					      struct scratch *scratch)
{
	struct kernel_walk *walk = &scratch->kernel_walk;

	walk->frames = 0;
	if (!settings.kernel_rules.count || !bpf_core_type_exists(struct orc_entry) ||
	    !(ctx->regs.eflags & FLAGS_FIXED))
		return;
	walk->pc = ctx->regs.rip;
	walk->sp = ctx->regs.rsp;
	walk->fp = ctx->regs.rbp;
	walk->is_exact = 1;
	for (u32 i = 0; i <= STACK_MAX_FRAMES && i <= settings.max_stack; i++) {
		u32 step = take_kernel_frame(i);

		if (step == STEP_ON)
			continue;
		if (step == STEP_END)
			walk->frames = i + 1;
		return;
	}
	walk->frames = settings.max_stack + 1;
}

/* Global, see move_window(). */
__noinline int kernel_frame_differs(u32 row)
{
	struct scratch *scratch = scratch_here();

	if (!scratch || row > STACK_MAX_FRAMES)
		return 1;
	return scratch->record.frames[row] != scratch->record.frames[KERNELS_ROW + row];
}

/* Whether the kernel walks the same stack; it may cut it. */
static __always_inline bool is_kernels_stack(struct bpf_perf_event_data *ctx,
					     struct scratch *scratch, u32 frames)
{
	s64 bytes = bpf_get_stack(ctx, scratch->record.frames + KERNELS_ROW,
				  (settings.max_stack + 1) * sizeof(u64), 0);
	u32 theirs = bytes > 0 ? (u32)bytes / sizeof(u64) : 0;

	if (theirs > frames || (theirs < frames && theirs < settings.kernel_max_stack))
		return false;
	for (u32 i = 0; i <= STACK_MAX_FRAMES && i < theirs; i++)
		if (kernel_frame_differs(i))
			return false;
	return true;
}

/* walk_kernel_stack(), as long as it has not been wrong. */
static __always_inline u32 prove_kernel_stack(struct bpf_perf_event_data *ctx,
					      struct scratch *scratch)
{
	u32 earlier = scratch->kernel_walk.walks, frames;

	if (kernel_rules_off)
		return 0;
	walk_kernel_stack(ctx, scratch);
	barrier(); /* a number in a map, as in struct user_walk, or each depth is verified */
	frames = scratch->kernel_walk.frames;
	if (!frames)
		return 0;
	scratch->kernel_walk.walks++;
	if ((earlier >= KERNEL_WALKS_PROVED && earlier % KERNEL_PROOF_EVERY) ||
	    is_kernels_stack(ctx, scratch, frames))
		return frames;
	kernel_rules_off = 1;
	count(COUNTER_kernel_rules_wrong);
	return 0;
}

#else

static __always_inline u32 prove_kernel_stack(struct bpf_perf_event_data *ctx,
					      struct scratch *scratch)
{
	(void)ctx;
	(void)scratch;
	return 0;
}

#endif

/* The kernel stack into the first rows; returns how many frames. One more than wanted is asked for,
 * to tell a stack that is just as deep from one that is deeper. */
static __always_inline u32 take_kernel_stack(struct bpf_perf_event_data *ctx,
					     struct scratch *scratch)
{
	u32 frames = prove_kernel_stack(ctx, scratch);
	s64 bytes;

	if (frames) {
		if (frames > settings.max_stack)
			count(COUNTER_kernel_stack_too_deep);
		return frames > settings.max_stack ? settings.max_stack : frames;
	}
	bytes = bpf_get_stack(ctx, scratch->record.frames, (settings.max_stack + 1) * sizeof(u64),
			      0);
	if (bytes <= 0) {
		count(COUNTER_kernel_stack_failed);
		return 0;
	}
	frames = (u32)bytes / sizeof(u64);
	if (frames > settings.max_stack || frames >= settings.kernel_max_stack)
		count(COUNTER_kernel_stack_too_deep);
	return frames > settings.max_stack ? settings.max_stack : frames;
}

#endif
