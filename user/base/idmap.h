/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hash map from u64 to u32, for ids: 0 is "none", so a key that is absent reads as 0.
 *
 * Open addressing with linear probing, at most 3/4 full. A zeroed `struct idmap` is a valid empty
 * map. Any u64 is a valid key.
 */
#ifndef BASE_IDMAP_H
#define BASE_IDMAP_H

#include "bpfprof/types.h"

#include <stddef.h>

struct idmap_slot {
	u64 key;
	u32 value; /* 0: the slot is free */
};

struct idmap {
	struct idmap_slot *slots;
	size_t count, capacity; /* capacity: 0 or a power of two */
};

/* The value of `key`, 0 if there is none. */
u32 idmap_get(const struct idmap *map, u64 key);

/* The place of `key`'s value, made if absent (then *place is 0, and the caller must store something
 * else before the next call). Valid until the next idmap_place(). */
u32 *idmap_place(struct idmap *map, u64 key);

/* A key will be asked for soon. */
void idmap_expect(const struct idmap *map, u64 key);

/* Forgets `key`, if it is there. */
void idmap_remove(struct idmap *map, u64 key);

/* A map of its own with the same content. */
struct idmap idmap_copy(const struct idmap *map);

/* Frees the memory; the map is empty again. */
void idmap_release(struct idmap *map);

#endif
