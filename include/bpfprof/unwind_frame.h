/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a walk up the stack is, and where it reads from.
 */
#ifndef BPFPROF_UNWIND_FRAME_H
#define BPFPROF_UNWIND_FRAME_H

#include "bpfprof/unwind_table.h"

#include <stdbool.h>

enum unwind_machine { UNWIND_X86_64, UNWIND_ARM64 };

/* An unwind_frame's rbx_at: no frame so far has saved rbx. */
enum { UNWIND_IN_REGISTERS = 1 };

struct unwind_frame {
	u64 pc, sp, fp;
	u64 rbx_at;	  /* x86-64: where its value was saved, or UNWIND_IN_REGISTERS; 0: lost */
	u64 lr;		  /* arm64: where a function that has saved nothing returns to */
	u8 is_exact;	  /* the pc was interrupted; else it is a return address */
	u8 has_lr;	  /* `lr` is this frame's */
	u8 has_registers; /* `registers` are this frame's: it is the innermost one */
	u8 fp_is_lost;
	u8 sp_is_lost; /* arm64: `sp` is not above it, and no more is known */
	u8 reserved[3];
	u64 registers[UNWIND_REGISTERS]; /* by DWARF number, of the innermost frame */
};

/* Reads a word of the stack. Returns false if that cannot be read. */
typedef bool unwind_read_word(void *context, u64 address, u64 *ret_word);

/* Where stack words come from. */
struct unwind_memory {
	unwind_read_word *read_word;
	void *context;
};

/* Without the pointer authentication code above the 48 bits of a user address. */
static inline __attribute__((always_inline)) u64 unwind_code_address(enum unwind_machine machine,
								     u64 address)
{
	return machine == UNWIND_ARM64 ? address & 0x0000ffffffffffffULL : address;
}

/* The address to look rules up with: behind a call that does not return another function may begin.
 */
static inline __attribute__((always_inline)) u64 unwind_find_address(
	const struct unwind_frame *frame)
{
	return frame->pc - !frame->is_exact;
}

#endif
