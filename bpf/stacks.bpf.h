/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stacks of one sample: the kernel's, where the CPU was in the kernel, and the user's, by the
 * walker that fits.
 */
#ifndef STACKS_BPF_H
#define STACKS_BPF_H

#include "kernel_stack.bpf.h"
#include "maps.bpf.h"
#include "user_stack.bpf.h"

/* The user stack behind the frames of the kernel stack, walked by the kernel. */
static __always_inline void take_user_stack_by_helper(struct bpf_perf_event_data *ctx,
						      struct sample_record *record)
{
	u32 first = record->header.kernel_frames;
	s64 bytes;
	u32 frames;

	if (first > STACK_MAX_FRAMES)
		return;
	bytes = bpf_get_stack(ctx, record->frames + first, (settings.max_stack + 1) * sizeof(u64),
			      BPF_F_USER_STACK);
	frames = bytes > 0 ? (u32)bytes / sizeof(u64) : 0;
	record->header.end = frames ? END_UNKNOWN : END_UNREADABLE;
	if (frames > settings.max_stack || frames >= settings.kernel_max_stack)
		record->header.end = END_TOO_DEEP;
	if (frames > settings.max_stack)
		frames = settings.max_stack;
	record->header.user_frames = frames;
	record->header.walked = WALKER_KERNEL;
}

/* Kernel threads have no stack of their own, what they borrow is not what runs; and a task that
 * ends has given back its memory. */
static __always_inline bool has_user_stack(u8 mode)
{
	if (mode == MODE_USER)
		return true;
	return !(CURRENT_TASK_FIELD(flags) & TASK_IS_KERNEL_THREAD) && CURRENT_TASK_FIELD(mm);
}

static __always_inline void take_user_stack(struct bpf_perf_event_data *ctx,
					    struct scratch *scratch)
{
	struct sample_record *record = &scratch->record;

	if (!has_user_stack(record->header.mode))
		return;
	if (!find_user_registers(ctx, scratch))
		take_user_stack_by_helper(ctx, record);
	else if (scratch->walk.frame.pc) /* 0: the kernel's worker for the process (io_uring) */
		walk_user_stack(scratch);
	if (settings.walkers & WALKER_EH_FRAME && scratch->walk.is_done)
		known_process(scratch)->frames = record->header.user_frames;
}

static __always_inline void count_user_stack(u8 end)
{
	if (end == END_NO_STACK)
		return;
	count(COUNTER_user_stacks);
	if (end == END_COMPLETE)
		count(COUNTER_user_stacks_whole);
	else if (end == END_TOO_DEEP)
		count(COUNTER_user_stack_too_deep);
	else if (end == END_BROKEN)
		count(COUNTER_user_stack_broken);
	else if (end == END_UNREADABLE)
		count(COUNTER_user_stack_failed);
	else if (end == END_NO_TABLE)
		count(COUNTER_user_stack_no_table);
	else if (end == END_UNSUPPORTED)
		count(COUNTER_user_stack_unsupported);
	else if (end == END_NOT_ANALYSED)
		count(COUNTER_user_stack_not_analysed);
}

/* Both stacks into the record, and how many frames they have. Not inlined: see struct user_walk. */
static __noinline void take_stacks(struct bpf_perf_event_data *ctx, struct scratch *scratch)
{
	struct sample_record *record = &scratch->record;

	if (record->header.mode == MODE_KERNEL)
		record->header.kernel_frames = take_kernel_stack(ctx, scratch);
	barrier(); /* from here on its frames are a number in a map, see struct user_walk */
	take_user_stack(ctx, scratch);
	count_user_stack(record->header.end);
}

#endif
