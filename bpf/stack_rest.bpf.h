/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is left of a user stack where the walk met code whose table is still being made: its
 * registers there and the bytes of the stack from there on, for user space to walk on by the table.
 * That is so for the first moments of a file only, so it may cost some microseconds.
 */
#ifndef STACK_REST_BPF_H
#define STACK_REST_BPF_H

#include "user_memory.bpf.h"
#include "user_registers.bpf.h"

enum {
	REST_PIECE_BYTES = 512, /* copied at a time; divides a page, so it is there or is not */
	REST_PIECES = REST_STACK_BYTES / REST_PIECE_BYTES,
	REST_RECORDS_MAX = 4,
	/* Of what lies below the stack pointer: a leaf function may have saved registers there, and
	 * an epilogue have passed them. */
	RED_ZONE_BYTES = 128,
};
_Static_assert(REST_STACK_BYTES % REST_PIECE_BYTES == 0, "whole pieces");

static __always_inline struct stack_rest *rest_here(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&rests, &zero);
}

/* Keeps in mind where the walk is, which goes on as well as it can. `doubt` is that of the frame.
 * Global, see move_window(). */
__noinline int begin_rest(u32 doubt)
{
	struct scratch *scratch = scratch_here();
	struct stack_rest *rest = rest_here();
	struct unwind_frame *frame;

	if (!scratch || !rest)
		return 1;
	frame = &rest->frame;
	*frame = scratch->walk.frame;
	/* It was saved by an inner frame, which is not copied. */
	if (MACHINE == UNWIND_X86_64 && frame->rbx_at > UNWIND_IN_REGISTERS) {
		if (read_stack_word(scratch, frame->rbx_at, &frame->registers[X86_64_RBX]))
			frame->rbx_at = UNWIND_IN_REGISTERS;
		else
			frame->rbx_at = 0;
	}
	rest->user_frames = scratch->record.header.user_frames;
	rest->walked = scratch->record.header.walked;
	rest->found_by = scratch->walk.found_by;
	rest->doubt = (u8)doubt;
	scratch->walk.has_rest = 1;
	return 0;
}

/* Copies a piece of stack to `at` in the copy. Returns 0, or not if there is no more. */
__noinline int copy_piece(u32 at)
{
	struct stack_rest *rest = rest_here();

	if (!rest || at > REST_STACK_BYTES - REST_PIECE_BYTES)
		return 1;
	if (bpf_probe_read_user(rest->stack + at, REST_PIECE_BYTES,
				(const void *)(rest->stack_start + at)))
		return 1;
	rest->stack_bytes = at + REST_PIECE_BYTES;
	return 0;
}

/* Whether a piece lies above the first frame of the process, among what it was given to start with:
 * within a page, as other stacks lie elsewhere altogether. */
static __always_inline bool is_above_frames(const struct stack_rest *rest, u32 at)
{
	return rest->stack_start + at - rest->start_stack < 1ULL << (settings.page_bits & 31);
}

/* Copies the stack from stack_start on: to the first frame of the process, if that is on this
 * stack, else as far as there is room or memory. Global, see move_window(). */
__noinline int copy_stack(void)
{
	struct stack_rest *rest = rest_here();

	if (!rest)
		return 1;
	rest->stack_bytes = 0;
	for (u32 i = 0; i < REST_PIECES; i++)
		if (is_above_frames(rest, i * REST_PIECE_BYTES) || copy_piece(i * REST_PIECE_BYTES))
			break;
	return 0;
}

/* Below the stack pointer the stack need not go on, if that lies at the edge of a page. */
static __always_inline void find_start(struct stack_rest *rest)
{
	u64 piece_mask = ~(u64)(REST_PIECE_BYTES - 1);

	rest->stack_start = (rest->frame.sp - RED_ZONE_BYTES) & piece_mask;
	if (copy_piece(0))
		rest->stack_start = rest->frame.sp & piece_mask;
}

/* Sends the next record of what is left of the stack. Returns 0, or not if it is the last one.
 * Global, see move_window(). */
__noinline int send_next_of_rest(void)
{
	struct stack_rest *rest = rest_here();
	u32 bytes;

	if (!rest)
		return 1;
	copy_stack();
	bytes = offsetof(struct stack_rest, stack) + rest->stack_bytes;
	/* Nobody waits for this ring: its reader is told by samples. */
	if (bytes > sizeof(*rest) ||
	    bpf_ringbuf_output(&rest_ring, rest, bytes, BPF_RB_NO_WAKEUP)) {
		count(COUNTER_stack_not_kept);
		return 1;
	}
	rest->stack_start += REST_STACK_BYTES;
	return rest->stack_bytes < REST_STACK_BYTES;
}

/* Sends what is left of the stack. If there is no room for any of it the sample stays as it is.
 * Global, see move_window(). */
__noinline int send_rest(void)
{
	struct scratch *scratch = scratch_here();
	struct stack_rest *rest = rest_here();
	const struct mm_struct *mm;
	u64 first;

	if (!scratch || !rest)
		return 1;
	mm = (const void *)scratch->walk.mm;
	rest->kind = RECORD_STACK_REST;
	rest->time_ns = scratch->record.header.time_ns;
	rest->pid = scratch->record.header.pid;
	rest->tid = scratch->record.header.tid;
	rest->start_stack = BPF_CORE_READ(mm, start_stack);
	find_start(rest);
	first = rest->stack_start;
	for (u32 i = 0; i < REST_RECORDS_MAX; i++)
		if (send_next_of_rest())
			break;
	if (rest->stack_start != first)
		scratch->record.header.kind = RECORD_LATE_SAMPLE;
	return 0;
}

#endif
