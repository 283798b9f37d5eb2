/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hash of the chain's words, with a bit for frames of user space.
 */
#include "perfdata/chain_key.h"

#include "perfdata/bystanders.h"

#include <xxhash.h>

/* Whether there may be frames of user space in a chain: it is sure that there are none if it has
 * one marker, for the kernel, and nothing else decides over the frames. */
static bool has_user_frames(const struct decoder *decoder, struct bytes chain)
{
	size_t words = chain.length / sizeof(u64);

	if (words < 2 || decode_word(decoder, chain.start) != words - 1 ||
	    decode_word(decoder, chain.start + sizeof(u64)) != CONTEXT_KERNEL)
		return true;
	for (size_t i = 2; i < words; i++)
		if (decode_word(decoder, chain.start + i * sizeof(u64)) >= CONTEXT_MAX)
			return true;
	return false;
}

u64 chain_key(const struct decoder *decoder, struct bytes chain)
{
	u64 key = XXH3_64bits(chain.start, chain.length) & ~(1ull | EXTRA_NOTE);

	return (key ? key : 2) | has_user_frames(decoder, chain);
}
