/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Byte strings as row numbers: equal bytes get the same id, ids count from 1, 0 is "none".
 *
 * A zeroed `struct intern` is a valid empty one.
 */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include "base/arena.h"
#include "bpfprof/types.h"

#include <stddef.h>

struct intern_row;

struct intern {
	struct intern_row *rows; /* rows[id]; rows[0] unused */
	u32 count, capacity;	 /* ids given: 1 … count */
	u32 *slots;		 /* hash table of ids */
	u32 slot_count;
	struct arena bytes; /* of the strings: views stay valid while the tables grow */
};

/* The id of these bytes, new or known. The bytes are copied, with a NUL behind them. */
u32 intern_bytes(struct intern *intern, const void *bytes, size_t length);

/* The id of a NUL terminated string; NULL gives 0. */
u32 intern_text(struct intern *intern, const char *text);

/* The id of these bytes, 0 if they were never interned. */
u32 intern_find(const struct intern *intern, const void *bytes, size_t length);

/* The string of an id, NUL terminated; "" for 0. Borrowed until intern_release(): it never moves.
 */
const char *intern_view(const struct intern *intern, u32 id);

/* intern_expect_view() of an id will be called soon. */
void intern_expect_row(const struct intern *intern, u32 id);
/* The string of an id will be asked for soon. */
void intern_expect_view(const struct intern *intern, u32 id);

/* Frees the memory; empty again. */
void intern_release(struct intern *intern);

#endif
