/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hash of the chain's words and of where they are from, with a bit for frames of user space.
 */
#include "perfdata/chain_key.h"

#include "perfdata/bystanders.h"

#include <xxhash.h>

u64 chain_owner(const struct decoder *decoder, struct record_header header, const u8 *at)
{
	const struct event_kind *kind = decode_kind(decoder, (struct bytes){at, header.size_bytes});

	if (!kind || !kind->has_call_stack || !kind->sample_thread_at ||
	    kind->sample_thread_at + sizeof(u64) > header.size_bytes)
		return 0;
	at += kind->sample_thread_at;
	return (u64)decode_half(decoder, at) << 32 | decode_half(decoder, at + sizeof(u32));
}

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

/* What the sample says of its stack besides. */
static u64 provenance(const struct decoder *decoder, struct record_header header)
{
	const u32 bits = MISC_CUT_MASK << MISC_CUT_SHIFT | MISC_WALK_MASK << MISC_WALK_SHIFT;

	return decoder->is_ours ? header.misc & bits : 0;
}

u64 chain_key(const struct decoder *decoder, struct record_header header, struct bytes chain)
{
	u64 key = XXH3_64bits(chain.start, chain.length) +
		  provenance(decoder, header) * 0x9e3779b97f4a7c15ULL;

	key &= ~(1ull | EXTRA_NOTE);

	return (key ? key : 2) | has_user_frames(decoder, chain);
}
