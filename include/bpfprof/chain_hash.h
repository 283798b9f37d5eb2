/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The chain of a sample's callers, known by 128 bits of hash. Pure, as aggregate.h, which counts by
 * it.
 */
#ifndef BPFPROF_CHAIN_HASH_H
#define BPFPROF_CHAIN_HASH_H

#include "bpfprof/event.h"

#define AGGREGATE_INLINE static inline __attribute__((always_inline))

/* A chain is hashed in steps of so many words, zeros behind its end. */
enum { CHAIN_STEP_WORDS = 8 };

/* Two halves that have nothing in common. `low` is 0 in a free slot only. */
struct chain_hash {
	u64 low, high;
};

/* Which frames of a record are the chain of callers, and what else is one of the chain, as hardly
 * any is seen with two of them, and so takes no room in the keys: the cgroup it was called in, and
 * a hash of the files that the user's frames, the leaf too, lie in and of the thread's name. A
 * process can map two files at one address in turn, and a thread change its name. */
struct chain_part {
	u32 first; /* frame; 1: behind the leaf */
	u32 kernel_frames, user_frames;
	u64 cgroup;
	u64 context;
};

/* The callers in a record whose first frame, if it has any, is `first_frame`. */
AGGREGATE_INLINE struct chain_part chain_part_of(const struct sample_header *header,
						 u64 first_frame, u64 context)
{
	struct chain_part part = {
		.kernel_frames = header->kernel_frames,
		.user_frames = header->user_frames,
		.cgroup = header->cgroup,
		.context = context,
	};

	if (part.kernel_frames + part.user_frames == 0 || first_frame != header->address)
		return part;
	part.first = 1;
	if (part.kernel_frames)
		part.kernel_frames--;
	else
		part.user_frames--;
	return part;
}

AGGREGATE_INLINE u64 chain_rotate(u64 value, u32 bits)
{
	return value << bits | value >> (64 - bits);
}

/* Every bit of the result depends on every bit of the value; no two values have one result. */
AGGREGATE_INLINE u64 chain_mix(u64 value)
{
	value ^= value >> 32;
	value *= 0xd6e8feb86659fd93ULL;
	value ^= value >> 29;
	value *= 0xa0761d6478bd642fULL;
	return value ^ value >> 32;
}

/* The hash of a context and one more word. */
AGGREGATE_INLINE u64 context_add(u64 context, u64 word)
{
	return chain_rotate((context ^ word) * 0x9e3779b97f4a7c15ULL, 29);
}

/* The hash of a chain and one more word. Each half takes a word by a step of its own that can be
 * undone, so chains that differ in one word differ in both. */
AGGREGATE_INLINE struct chain_hash chain_hash_add(struct chain_hash hash, u64 word)
{
	return (struct chain_hash){
		.low = context_add(hash.low, word),
		.high = (chain_rotate(hash.high, 41) + word) * 0xc2b2ae3d27d4eb4fULL,
	};
}

/* The hash of no frames. `seed` is secret, so that nobody can make a stack that looks like
 * another's. */
AGGREGATE_INLINE struct chain_hash chain_hash_begin(u64 seed, struct chain_part part)
{
	u64 frames = (u64)part.kernel_frames << 32 | part.user_frames;
	struct chain_hash hash = {
		.low = chain_mix(seed ^ frames),
		.high = chain_mix(chain_rotate(seed, 32) + ~frames),
	};

	return chain_hash_add(chain_hash_add(hash, part.cgroup), part.context);
}

/* The hash of a chain that ends here. */
AGGREGATE_INLINE struct chain_hash chain_hash_end(struct chain_hash hash)
{
	struct chain_hash end = {.low = chain_mix(hash.low), .high = chain_mix(hash.high)};

	end.low += !end.low;
	return end;
}

/* The hash of `count` frames, as the programs make it. */
AGGREGATE_INLINE struct chain_hash chain_hash_of(u64 seed, struct chain_part part,
						 const u64 *frames)
{
	struct chain_hash hash = chain_hash_begin(seed, part);
	u32 count = part.kernel_frames + part.user_frames;

	for (u32 i = 0; i < count || i % CHAIN_STEP_WORDS; i++)
		hash = chain_hash_add(hash, i < count ? frames[i] : 0);
	return chain_hash_end(hash);
}

#endif
