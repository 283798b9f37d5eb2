/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind tables: how to get from a frame to its caller, by place in the file.
 *
 * Text is cut into pages of 4 KiB of file offset. A row is 4 bytes: where in its page it begins to
 * hold, and the number of its rule; the index says with which row each page begins. Rules are
 * shared by all binaries. Measured, index included: 4.04 to 4.06 bytes a row over libc, libstdc++,
 * perl, python3, libcrypto, cc1 and libLLVM of Debian 12, with 134 to 652 rules each.
 */
#ifndef BPFPROF_UNWIND_TABLE_H
#define BPFPROF_UNWIND_TABLE_H

#include "bpfprof/types.h"

enum {
	UNWIND_PAGE_BITS = 12, /* of file offset */
	UNWIND_RULE_BITS = 20,
	UNWIND_RULE_MAX = (1 << UNWIND_RULE_BITS) - 1,
};

/* Where the caller's stack pointer (the CFA) is. Append-only. */
enum cfa_kind {
	CFA_NONE,	 /* no call frame information holds here */
	CFA_END,	 /* the outermost frame: its return address is undefined */
	CFA_UNSUPPORTED, /* there is information, but no row can express it */
	CFA_REGISTER,	 /* register + offset */
	CFA_MEMORY,	 /* the word at (register + offset), plus `more` */
	CFA_PLT, /* register + offset + (8 if (pc & 15) >= more): lazy PLT stubs of x86-64 */
};

/* Where the caller's value of a register is. Append-only. */
enum saved_kind {
	SAVED_SAME,	 /* still in the register */
	SAVED_AT_CFA,	 /* the word at CFA + offset */
	SAVED_AT_SP,	 /* the word at this frame's stack pointer + offset (signal frames) */
	SAVED_AT_FP,	 /* the word at this frame's frame pointer + offset (realigned stacks) */
	SAVED_UNDEFINED, /* lost */
};

struct unwind_rule {
	u8 cfa_kind;	 /* enum cfa_kind */
	u8 cfa_register; /* DWARF number */
	u8 pc_kind;	 /* enum saved_kind, of the return address */
	u8 fp_kind;	 /* enum saved_kind, of the frame pointer */
	s32 cfa_offset;
	s16 pc_offset, fp_offset;
	s16 more;     /* see enum cfa_kind */
	u8 is_signal; /* the caller's pc was interrupted: it is no return address */
	u8 reserved;
};
WIRE_SIZE(struct unwind_rule, 16);

typedef u32 unwind_row;

static inline unwind_row unwind_row_make(u32 page_offset, u32 rule)
{
	return page_offset << UNWIND_RULE_BITS | rule;
}

static inline u32 unwind_row_rule(unwind_row row)
{
	return row & UNWIND_RULE_MAX;
}

#endif
