/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is known of a leaf, by where it is in the text.
 *
 * Samples of a large program have hundreds of thousands of leaves, of which hardly anything matters
 * but the function and what the frame pointer is. That is the same over many instructions, so it is
 * kept for 16 bytes of text at once: a quarter of the text's size, of which only what was asked for
 * has memory behind it.
 */
#include "lbr/code_kinds.h"

#include "base/memory.h"

enum {
	BLOCK_BYTES = 16,
	SPAN_MAX_BYTES = 1 << 30, /* of text: of more there are no kinds */
	FUNCTIONS_MAX = 1 << 27,  /* that a kind can tell apart */
};

/* The parts of a kind. */
enum { KIND_IS_ONE = 1U << 31, FUNCTION_AT = 4, POINTER_AT = 2, OUTERMOST_AT = 1 };

static u64 text_bytes(const struct code_facts *facts)
{
	u64 bytes = 0;

	for (size_t i = 0; i < facts->image.segments.count; i++)
		if (facts->image.segments.items[i].is_executable)
			bytes += facts->image.segments.items[i].bytes;
	return bytes;
}

void code_kinds_begin(struct code_facts *facts)
{
	size_t count = facts->functions.count;
	u64 first, bytes;

	if (!count || count > FUNCTIONS_MAX)
		return;
	first = facts->functions.items[0].start & ~(u64)(BLOCK_BYTES - 1);
	bytes = facts->functions.items[count - 1].end - first;
	/* Segments may lie far apart. */
	if (bytes > SPAN_MAX_BYTES || bytes / 2 > text_bytes(facts))
		return;
	facts->kinds_first = first;
	facts->kinds_count = bytes / BLOCK_BYTES; /* the last bytes are no whole block */
	facts->kinds = must_alloc(facts->kinds_count * sizeof(*facts->kinds) + 1);
}

u32 code_facts_kind(const struct code_facts *facts, u64 address)
{
	u64 block = (address - facts->kinds_first) / BLOCK_BYTES;

	return block < facts->kinds_count ? __atomic_load_n(&facts->kinds[block], __ATOMIC_RELAXED)
					  : KIND_MIXED;
}

static u32 kind_of(u32 function, const struct code_frame *frame)
{
	return KIND_IS_ONE | function << FUNCTION_AT | (u32)frame->pointer << POINTER_AT |
	       (u32)frame->is_outermost << OUTERMOST_AT | frame->is_signal;
}

/* The kind of all addresses of a block, one rule after the other. */
static u32 kind_of_block(const struct code_facts *facts, u64 first)
{
	u32 function = code_facts_function(facts, first), kind = 0;
	u64 end = first + BLOCK_BYTES;

	if (function == NO_FUNCTION || facts->functions.items[function].end < end ||
	    facts->functions.items[function].flags & FUNCTION_IS_GAP)
		return KIND_MIXED;
	for (u64 at = first; at < end;) {
		struct code_frame frame = code_facts_frame(facts, at);

		if (frame.end <= at || (kind && kind_of(function, &frame) != kind))
			return KIND_MIXED;
		kind = kind_of(function, &frame);
		at = frame.end;
	}
	return kind;
}

u32 code_facts_find_kind(struct code_facts *facts, u64 address)
{
	u64 block = (address - facts->kinds_first) / BLOCK_BYTES;
	u32 kind;

	if (block >= facts->kinds_count)
		return KIND_MIXED;
	kind = kind_of_block(facts, facts->kinds_first + block * BLOCK_BYTES);
	__atomic_store_n(&facts->kinds[block], kind, __ATOMIC_RELAXED);
	return kind;
}
