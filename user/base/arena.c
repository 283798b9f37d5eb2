/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Blocks that are filled one after the other.
 */
#include "base/arena.h"

#include "base/memory.h"

#include <string.h>

enum {
	BLOCK_MIN_BYTES = 4 << 10,   /* each block is twice the one before … */
	BLOCK_MAX_BYTES = 256 << 10, /* … up to this */
};

struct arena_block {
	struct arena_block *next;
	size_t used, capacity;
	char bytes[];
};

static struct arena_block *block_with_room(struct arena *arena, size_t bytes)
{
	struct arena_block *block = arena->blocks;
	size_t capacity = block ? block->capacity * 2 : BLOCK_MIN_BYTES;

	if (block && block->capacity - block->used >= bytes)
		return block;
	if (capacity > BLOCK_MAX_BYTES)
		capacity = BLOCK_MAX_BYTES;
	if (capacity < bytes)
		capacity = bytes;
	/* Not zeroed: whoever fills a part of it shall not touch all of it. */
	block = must_resize_array(NULL, sizeof(*block) + capacity, 1);
	*block = (struct arena_block){.next = arena->blocks, .capacity = capacity};
	arena->blocks = block;
	return block;
}

const char *arena_copy(struct arena *arena, const void *bytes, size_t length)
{
	struct arena_block *block = block_with_room(arena, length + 1);
	char *copy = block->bytes + block->used;

	if (length)
		memcpy(copy, bytes, length);
	copy[length] = 0;
	block->used += length + 1;
	return copy;
}

void arena_release(struct arena *arena)
{
	while (arena->blocks) {
		struct arena_block *block = arena->blocks;

		arena->blocks = block->next;
		free(block);
	}
}
