/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hash table of a profile's stack rows, private to this folder.
 *
 * It is what counting asks most, and asks at random places of much memory. So a slot holds what its
 * row is told apart by, and where a frame is looked for depends on the path that leads to it and
 * not on the row of its caller: the places of a whole chain are known before the first is looked
 * at.
 */
#ifndef PROFILE_STACK_INDEX_H
#define PROFILE_STACK_INDEX_H

#include "profile/row_index.h"
#include "profile/tables.h"

struct stack_slot {
	u32 hash;
	stack_id row; /* 0: free */
	stack_id caller;
	location_id location;
};

struct stack_index {
	struct stack_slot *slots;
	u32 count, capacity; /* capacity: 0 or a power of two */
};

/* The hash of a path, from the hash of the path of its caller. */
static inline u32 stack_path_hash(u32 caller_hash, const struct stack_row *stack)
{
	u64 hash = hash_mix((u64)caller_hash << 32 | stack->location,
			    (u64)stack->mark << 8 | stack->origin);

	return (u32)(hash >> 16);
}

static inline void stack_index_grow(struct stack_index *index)
{
	struct stack_index grown = {.capacity = index->capacity ? index->capacity * 2 : 64};

	grown.slots = must_alloc_table(grown.capacity, sizeof(*grown.slots));
	grown.count = index->count;
	for (u32 i = 0; i < index->capacity; i++) {
		u32 at = index->slots[i].hash & (grown.capacity - 1);

		if (!index->slots[i].row)
			continue;
		while (grown.slots[at].row)
			at = (at + 1) & (grown.capacity - 1);
		grown.slots[at] = index->slots[i];
	}
	free(index->slots);
	*index = grown;
}

/* Makes room for so many more rows. */
static inline void stack_index_reserve(struct stack_index *index, u32 more)
{
	while (((u64)index->count + more) * 4 > (u64)index->capacity * 3)
		stack_index_grow(index);
}

/* The slot of a path will be looked at soon. */
static inline void stack_index_expect(const struct stack_index *index, u32 hash)
{
	__builtin_prefetch(&index->slots[hash & (index->capacity - 1)]);
}

/* The slot of the row that is equal to `stack`, or a free one. */
static inline struct stack_slot *stack_index_slot(const struct stack_index *index,
						  const struct stack_row *rows,
						  const struct stack_row *stack)
{
	u32 at = stack->path_hash & (index->capacity - 1);

	for (; index->slots[at].row; at = (at + 1) & (index->capacity - 1)) {
		const struct stack_slot *slot = &index->slots[at];

		if (slot->hash != stack->path_hash || slot->caller != stack->caller ||
		    slot->location != stack->location)
			continue;
		/* Hardly ever anything else than equal. */
		if (rows[slot->row].mark == stack->mark && rows[slot->row].origin == stack->origin)
			break;
	}
	return &index->slots[at];
}

#endif
