/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where among many ascending addresses one is to be looked for: what they span is cut into about as
 * many blocks, of which each says where it begins.
 */
#ifndef BASE_ADDRESS_INDEX_H
#define BASE_ADDRESS_INDEX_H

#include "bpfprof/types.h"

#include <stddef.h>

/* Zeroed: of no addresses. */
struct address_index {
	u64 first;	 /* of the addresses */
	u32 block_shift; /* a block is 1 << block_shift */
	size_t block_count;
	u32 *rows; /* how many addresses are below each block, and, at last, how many there are */
};

/*
 * Makes an index of `count` addresses, fewer than 2^32, that ascend; equal ones may follow each
 * other. The first is at `addresses`, and each next one `stride_bytes` behind. Takes at most 4
 * bytes for each, and 8. Release with address_index_release().
 */
void address_index_make(struct address_index *index, const void *addresses, size_t count,
			size_t stride_bytes);
/* Releases; the index is of no addresses again. */
void address_index_release(struct address_index *index);

/* Between which numbers is how many addresses are not above this one. */
static inline void address_index_narrow(const struct address_index *index, u64 address,
					size_t *ret_least, size_t *ret_most)
{
	u64 block = (address - index->first) >> index->block_shift;

	*ret_least = 0;
	*ret_most = 0;
	if (!index->rows || address < index->first)
		return;
	*ret_least = index->rows[block < index->block_count ? block : index->block_count];
	*ret_most = index->rows[block < index->block_count ? block + 1 : index->block_count];
}

#endif
