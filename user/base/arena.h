/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Room for strings that never move and go together. A zeroed `struct arena` is a valid empty one.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_block *blocks; /* the one that is filled now comes first */
};

/* A copy of `length` bytes with a NUL behind them, valid until arena_release(). */
const char *arena_copy(struct arena *arena, const void *bytes, size_t length);
/* Frees the memory; empty again. */
void arena_release(struct arena *arena);

#endif
