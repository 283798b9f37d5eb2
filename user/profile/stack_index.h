/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hash table of a profile's stack rows, private to this folder.
 *
 * It is what counting asks most, and asks at random places of much memory. So it holds only where
 * stacks part: the first row that was called from another one is known by that one, and mostly
 * stands right behind it. A slot holds what its row is told apart by. And where a frame is looked
 * for depends on the path that leads to it and not on the row of its caller: the places of a whole
 * chain are known before the first is looked at.
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

/* Of the hash: the frame has a mark, or an origin of which there are few. */
#define STACK_IS_SPECIAL (1u << 31)

/* The hash of a path, from the hash of the path of its caller. */
static inline u32 stack_path_hash(u32 caller_hash, const struct stack_row *stack)
{
	u64 special = (u64)stack->mark << 8 | stack->origin;
	u64 hash = hash_mix((u64)caller_hash << 32 | stack->location, special);

	return ((u32)(hash >> 16) & ~STACK_IS_SPECIAL) | (special ? STACK_IS_SPECIAL : 0);
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

/* The slot of a path may be looked at soon. Always inlined, as row_index_expect(). */
static inline __attribute__((always_inline)) void stack_index_expect(
	const struct stack_index *index, u32 hash)
{
	if (index->capacity)
		__builtin_prefetch(&index->slots[hash & (index->capacity - 1)]);
}

/* Whether both are the same frame called from the same row. */
static inline bool stack_rows_equal(const struct stack_row *a, const struct stack_row *b)
{
	return a->location == b->location && a->caller == b->caller && a->mark == b->mark &&
	       a->origin == b->origin;
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
		if (!(slot->hash & STACK_IS_SPECIAL) || stack_rows_equal(&rows[slot->row], stack))
			break;
	}
	return &index->slots[at];
}

/* Enters a row into the free slot that was found for it. */
static inline void stack_index_take(struct stack_index *index, struct stack_slot *slot, stack_id id,
				    const struct stack_row *stack)
{
	*slot = (struct stack_slot){
		.hash = stack->path_hash,
		.row = id,
		.caller = stack->caller,
		.location = stack->location,
	};
	index->count++;
}

/* Enters a row that no other one is equal to. There must be room. */
static inline void stack_index_enter(struct stack_index *index, stack_id id,
				     const struct stack_row *stack)
{
	u32 at = stack->path_hash & (index->capacity - 1);

	while (index->slots[at].row)
		at = (at + 1) & (index->capacity - 1);
	stack_index_take(index, &index->slots[at], id, stack);
}

/* Frees the memory; empty again. */
static inline void stack_index_release(struct stack_index *index)
{
	free(index->slots);
	*index = (struct stack_index){0};
}

#endif
