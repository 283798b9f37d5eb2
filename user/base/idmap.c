/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hash map from u64 to u32: open addressing, linear probing, backward-shift removal.
 */
#include "base/idmap.h"

#include "base/memory.h"

#include <string.h>

/* Spreads keys that differ in few bits. Constant: 2^64 / golden ratio, odd (Knuth, TAOCP 3, 6.4).
 */
static size_t home_of(u64 key, size_t capacity)
{
	key ^= key >> 32;
	key *= 0x9e3779b97f4a7c15ULL;
	return (size_t)(key >> 32 ^ key >> 20) & (capacity - 1);
}

static struct idmap_slot *slot_of(const struct idmap *map, u64 key)
{
	size_t at = home_of(key, map->capacity);

	while (map->slots[at].value && map->slots[at].key != key)
		at = (at + 1) & (map->capacity - 1);
	return &map->slots[at];
}

static void grow(struct idmap *map)
{
	struct idmap old = *map;

	map->capacity = old.capacity ? old.capacity * 2 : 16;
	map->slots = must_alloc_table(map->capacity, sizeof(*map->slots));
	for (size_t i = 0; i < old.capacity; i++)
		if (old.slots[i].value)
			*slot_of(map, old.slots[i].key) = old.slots[i];
	free(old.slots);
}

void idmap_expect(const struct idmap *map, u64 key)
{
	if (map->capacity)
		__builtin_prefetch(&map->slots[home_of(key, map->capacity)]);
}

u32 idmap_get(const struct idmap *map, u64 key)
{
	return map->capacity ? slot_of(map, key)->value : 0;
}

u32 *idmap_place(struct idmap *map, u64 key)
{
	struct idmap_slot *slot;

	if (4 * (map->count + 1) > 3 * map->capacity)
		grow(map);
	slot = slot_of(map, key);
	if (!slot->value) {
		slot->key = key;
		map->count++;
	}
	return &slot->value;
}

void idmap_remove(struct idmap *map, u64 key)
{
	size_t mask = map->capacity - 1;
	struct idmap_slot *slot;
	size_t hole, at;

	if (!map->capacity)
		return;
	slot = slot_of(map, key);
	if (!slot->value)
		return;
	hole = (size_t)(slot - map->slots);
	for (at = (hole + 1) & mask; map->slots[at].value; at = (at + 1) & mask) {
		size_t home = home_of(map->slots[at].key, map->capacity);

		/* Only what probed past the hole to get here may fill it. */
		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		map->slots[hole] = map->slots[at];
		hole = at;
	}
	map->slots[hole] = (struct idmap_slot){0};
	map->count--;
}

struct idmap idmap_copy(const struct idmap *map)
{
	struct idmap copy = *map;

	if (map->capacity) {
		copy.slots = must_alloc_table(map->capacity, sizeof(*map->slots));
		memcpy(copy.slots, map->slots, map->capacity * sizeof(*map->slots));
	}
	return copy;
}

void idmap_release(struct idmap *map)
{
	free(map->slots);
	*map = (struct idmap){0};
}
