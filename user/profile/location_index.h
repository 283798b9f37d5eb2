/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hash table of a profile's location rows, private to this folder. A slot holds what its row is
 * told apart by, so that no other memory is waited for.
 */
#ifndef PROFILE_LOCATION_INDEX_H
#define PROFILE_LOCATION_INDEX_H

#include "profile/row_index.h"
#include "profile/tables.h"

struct location_slot {
	u64 address;
	u32 place;	 /* see location_place() */
	location_id row; /* 0: free */
};

struct location_index {
	struct location_slot *slots;
	u32 count, capacity; /* capacity: 0 or a power of two */
};

/* There is more to the row than fits into a slot. */
#define LOCATION_IS_SPECIAL (~0u)

/* Binary and space of a location. */
static inline u32 location_place(const struct location_row *location)
{
	enum { BINARY_BITS = 28, SPACES = 8 };

	if (location->seen_at || location->binary >> BINARY_BITS || location->space >= SPACES)
		return LOCATION_IS_SPECIAL;
	return (u32)location->space << BINARY_BITS | location->binary;
}

static inline bool location_rows_equal(const struct location_row *a, const struct location_row *b)
{
	return a->address == b->address && a->binary == b->binary && a->space == b->space &&
	       a->seen_at == b->seen_at;
}

static inline u32 location_home(const struct location_index *index, u64 address, u32 place)
{
	return (u32)(hash_mix(address, place) >> 20) & (index->capacity - 1);
}

/* A location will be looked for soon. Always inlined, as row_index_expect(). */
static inline __attribute__((always_inline)) void location_index_expect(
	const struct location_index *index, const struct location_row *location)
{
	if (index->capacity)
		__builtin_prefetch(&index->slots[location_home(index, location->address,
							       location_place(location))]);
}

/* The slot of the row equal to `location`, or a free one. */
static inline struct location_slot *location_index_slot(const struct location_index *index,
							const struct location_row *rows,
							const struct location_row *location)
{
	u32 place = location_place(location);
	u32 at = location_home(index, location->address, place);

	for (; index->slots[at].row; at = (at + 1) & (index->capacity - 1)) {
		const struct location_slot *slot = &index->slots[at];

		if (slot->address == location->address && slot->place == place &&
		    (place != LOCATION_IS_SPECIAL ||
		     location_rows_equal(&rows[slot->row], location)))
			break;
	}
	return &index->slots[at];
}

static inline void location_index_grow(struct location_index *index)
{
	struct location_index grown = {.capacity = index->capacity ? index->capacity * 2 : 64};

	grown.slots = must_alloc_table(grown.capacity, sizeof(*grown.slots));
	grown.count = index->count;
	for (u32 i = 0; i < index->capacity; i++) {
		const struct location_slot *slot = &index->slots[i];
		u32 at = location_home(&grown, slot->address, slot->place);

		if (!slot->row)
			continue;
		while (grown.slots[at].row)
			at = (at + 1) & (grown.capacity - 1);
		grown.slots[at] = *slot;
	}
	free(index->slots);
	*index = grown;
}

/* The row equal to `location`, or `next`, which the caller then makes. */
static inline location_id location_index_find(struct location_index *index,
					      const struct location_row *rows,
					      const struct location_row *location, location_id next)
{
	struct location_slot *slot;

	if ((u64)index->count * 4 >= (u64)index->capacity * 3)
		location_index_grow(index);
	slot = location_index_slot(index, rows, location);
	if (slot->row)
		return slot->row;
	*slot = (struct location_slot){
		.address = location->address, .place = location_place(location), .row = next};
	index->count++;
	return next;
}

/* Frees the memory; empty again. */
static inline void location_index_release(struct location_index *index)
{
	free(index->slots);
	*index = (struct location_index){0};
}

#endif
