/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hash table of row numbers, private to this folder.
 *
 * It keeps (hash, row) pairs only; what a row is equal to is asked of the row itself. A zeroed
 * `struct row_index` is a valid empty one; row numbers begin at 1.
 */
#ifndef PROFILE_ROW_INDEX_H
#define PROFILE_ROW_INDEX_H

#include "base/memory.h"
#include "bpfprof/types.h"

#include <stdbool.h>

struct row_index_slot {
	u32 hash;
	u32 row; /* 0: free */
};

struct row_index {
	struct row_index_slot *slots;
	u32 count, capacity; /* capacity: 0 or a power of two */
};

typedef bool row_equals(const void *table, u32 row, const void *key);

/* One more value into a hash. */
static inline u64 hash_mix(u64 hash, u64 value)
{
	/* The multiplier is 2^64 divided by the golden ratio, as in Fibonacci hashing. */
	hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
	return hash ^ (hash >> 32);
}

static inline void row_index_grow(struct row_index *index)
{
	u32 capacity = index->capacity ? index->capacity * 2 : 64;
	struct row_index_slot *slots = must_alloc_table(capacity, sizeof(*slots));

	for (u32 i = 0; i < index->capacity; i++) {
		u32 at = index->slots[i].hash & (capacity - 1);

		if (!index->slots[i].row)
			continue;
		while (slots[at].row)
			at = (at + 1) & (capacity - 1);
		slots[at] = index->slots[i];
	}
	free(index->slots);
	index->slots = slots;
	index->capacity = capacity;
}

/* What to look for: equal rows are found with equals(table, row, key); if there is none, `new_row`
 * is entered. */
struct row_wanted {
	u64 hash;
	u32 new_row;
	row_equals *equals;
	const void *table, *key;
};

/* The row equal to the wanted one, or `new_row`, which the caller then makes. Always inlined, so
 * that `equals` costs no call. */
static inline __attribute__((always_inline)) u32 row_index_find(struct row_index *index,
								struct row_wanted wanted)
{
	u32 hash = (u32)wanted.hash;
	u32 at;

	if ((u64)index->count * 4 >= (u64)index->capacity * 3)
		row_index_grow(index);
	for (at = hash & (index->capacity - 1); index->slots[at].row;
	     at = (at + 1) & (index->capacity - 1)) {
		const struct row_index_slot *slot = &index->slots[at];

		if (slot->hash == hash && wanted.equals(wanted.table, slot->row, wanted.key))
			return slot->row;
	}
	index->slots[at] = (struct row_index_slot){.hash = hash, .row = wanted.new_row};
	index->count++;
	return wanted.new_row;
}

/* A row with this hash will be looked for soon. Always inlined: gcc 12 takes a function that does
 * no more than this for one that does nothing. */
static inline __attribute__((always_inline)) void row_index_expect(const struct row_index *index,
								   u64 hash)
{
	if (index->capacity)
		__builtin_prefetch(&index->slots[(u32)hash & (index->capacity - 1)]);
}

/* The row that would be looked at first; 0: none. */
static inline u32 row_index_guess(const struct row_index *index, u64 hash)
{
	u32 at = (u32)hash & (index->capacity - 1);

	for (; index->capacity && index->slots[at].row; at = (at + 1) & (index->capacity - 1))
		if (index->slots[at].hash == (u32)hash)
			return index->slots[at].row;
	return 0;
}

/* Frees the memory; empty again. */
static inline void row_index_release(struct row_index *index)
{
	free(index->slots);
	*index = (struct row_index){0};
}

#endif
