/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An array that grows, of any type: `VEC(struct row) rows = { 0 }; *vec_add(&rows) = …`.
 *
 * Growth doubles, so adding costs O(1) on average; items move when it grows.
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/memory.h"

#include <stddef.h>

#define VEC(type)                       \
	struct {                        \
		type *items;            \
		size_t count, capacity; \
	}

/* Room for `more` items behind the last, without counting them. */
#define vec_reserve(vec, more)                                                           \
	((vec)->items = vec_grown((vec)->items, (vec)->count + (more), &(vec)->capacity, \
				  sizeof(*(vec)->items)))

/* Counts one more item and yields its address; its bytes are not zeroed. */
#define vec_add(vec) (vec_reserve(vec, 1), &(vec)->items[(vec)->count++])

/* Frees the items; the vec is empty again. What items own is the caller's to free first. */
#define vec_release(vec)                            \
	do {                                        \
		free((vec)->items);                 \
		(vec)->items = NULL;                \
		(vec)->count = (vec)->capacity = 0; \
	} while (0)

static inline void *vec_grown(void *items, size_t needed, size_t *capacity, size_t item_bytes)
{
	size_t wanted = *capacity ? *capacity : 8;

	if (items && needed <= *capacity)
		return items;
	while (wanted < needed)
		wanted *= 2;
	*capacity = wanted;
	return must_resize_array(items, wanted, item_bytes);
}

#endif
