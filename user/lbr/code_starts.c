/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A column of where functions start, and a row of it for each 128 bytes of text.
 */
#include "lbr/code_starts.h"

#include "base/memory.h"

#include <stdlib.h>

static void see_odd_start(struct code_starts *starts, u64 start)
{
	if (start % CODE_START_BYTES == 0)
		return;
	if (!starts->odd_end)
		starts->odd_first = start;
	starts->odd_end = start + 1;
}

bool code_starts_make(struct code_starts *starts, const struct code_facts *facts)
{
	size_t count = facts->functions.count, block = 0, blocks;

	*starts = (struct code_starts){.count = (u32)count};
	if (!count)
		return false;
	starts->first = facts->functions.items[0].start;
	starts->end = facts->functions.items[count - 1].end;
	if (starts->end - starts->first > CODE_SPAN_MAX_BYTES)
		return false;
	blocks = ((starts->end - starts->first) >> CODE_BLOCK_BITS) + 1;
	starts->starts = must_alloc_array(count, sizeof(*starts->starts));
	starts->row_of_block = must_alloc_array(blocks, sizeof(*starts->row_of_block));
	for (size_t row = 0; row < count; row++) {
		const struct code_function *function = &facts->functions.items[row];
		u32 start = (u32)(function->start - starts->first);
		bool is_gap = function->flags & FUNCTION_IS_GAP;

		starts->starts[row] = start << 1 | is_gap;
		if (!is_gap)
			see_odd_start(starts, function->start);
		for (; (u64)block << CODE_BLOCK_BITS < start; block++)
			starts->row_of_block[block] = row ? (u32)row - 1 : 0;
	}
	for (; block < blocks; block++)
		starts->row_of_block[block] = (u32)count - 1;
	return true;
}

void code_starts_release(struct code_starts *starts)
{
	free(starts->starts);
	free(starts->row_of_block);
	*starts = (struct code_starts){0};
}
