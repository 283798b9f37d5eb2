/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Blocks are as large as makes no more of them than there are addresses.
 */
#include "base/address_index.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static u64 address_at(const void *addresses, size_t row, size_t stride_bytes)
{
	u64 address;

	memcpy(&address, (const u8 *)addresses + row * stride_bytes, sizeof(address));
	return address;
}

void address_index_make(struct address_index *index, const void *addresses, size_t count,
			size_t stride_bytes)
{
	size_t block = 0;
	u64 span;

	*index = (struct address_index){0};
	if (!count)
		return;
	index->first = address_at(addresses, 0, stride_bytes);
	span = address_at(addresses, count - 1, stride_bytes) - index->first;
	while (span >> index->block_shift >= count)
		index->block_shift++;
	index->block_count = (size_t)(span >> index->block_shift) + 1;
	index->rows = must_alloc_array(index->block_count + 1, sizeof(*index->rows));
	for (size_t row = 0; row < count; row++) {
		u64 offset = address_at(addresses, row, stride_bytes) - index->first;

		while (block <= offset >> index->block_shift)
			index->rows[block++] = (u32)row;
	}
	index->rows[index->block_count] = (u32)count;
}

void address_index_release(struct address_index *index)
{
	free(index->rows);
	*index = (struct address_index){0};
}
