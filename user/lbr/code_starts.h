/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the functions of a binary start, looked up for every number in it that may be an address.
 * Private to lbr/.
 */
#ifndef LBR_CODE_STARTS_H
#define LBR_CODE_STARTS_H

#include "lbr/code_facts.h"

enum {
	CODE_SPAN_MAX_BYTES = 1U << 31, /* of text: as far as a call goes */
	CODE_BLOCK_BITS = 7,		/* of addresses whose first function is known */
	CODE_START_BYTES = 16,		/* what compilers align most functions to */
};

struct code_starts {
	u64 first, end; /* of all text */
	u32 *starts;	/* of functions: (address - first) << 1 | whether it is a gap */
	u32 count;
	u32 *row_of_block; /* the function that holds its first address, or is in front of it */
	u64 odd_first, odd_end; /* where functions do not start at multiples of CODE_START_BYTES */
};

/* Lists them; code_starts_release() it. Returns false, and lists nothing, if there are no functions
 * or their text spans more than CODE_SPAN_MAX_BYTES. */
bool code_starts_make(struct code_starts *starts, const struct code_facts *facts);
/* Frees; harmless on a zeroed struct. */
void code_starts_release(struct code_starts *starts);

static inline bool code_starts_in_text(const struct code_starts *starts, u64 address)
{
	return address - starts->first < starts->end - starts->first;
}

/* Whether a function may start at an address: most do at multiples of CODE_START_BYTES. */
static inline bool code_starts_may_be(const struct code_starts *starts, u64 address)
{
	return address % CODE_START_BYTES == 0 ||
	       address - starts->odd_first < starts->odd_end - starts->odd_first;
}

/* The row of the function that an address of the text is in, or behind. */
static inline u32 code_starts_row(const struct code_starts *starts, u64 address)
{
	u32 offset = (u32)(address - starts->first);
	u32 row = starts->row_of_block[offset >> CODE_BLOCK_BITS];

	while (row + 1 < starts->count && starts->starts[row + 1] >> 1 <= offset)
		row++;
	return row;
}

/* The row of the function that starts at an address of the text; NO_FUNCTION: none does. */
static inline u32 code_starts_started(const struct code_starts *starts, u64 address)
{
	u32 row = code_starts_row(starts, address);

	return starts->starts[row] == (u32)(address - starts->first) << 1 ? row : NO_FUNCTION;
}

#endif
