/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where functions begin and end, by the call frame information of an ELF image.
 */
#ifndef UNWIND_FUNCTION_BOUNDS_H
#define UNWIND_FUNCTION_BOUNDS_H

#include "base/cursor.h"
#include "base/vec.h"
#include "bpfprof/types.h"

struct function_bound {
	u64 start, end; /* linked addresses, [start, end) */
};

/* A function as it lies in its file. */
struct function_place {
	u64 start, end; /* file offsets, [start, end) */
	u64 address;	/* of the start, as linked */
};

struct function_places {
	VEC(struct function_place) items; /* ascending, one for each start: the longest */
};

/* Adds what .eh_frame, or else .debug_frame, has in executable segments, and sorts.
 * Returns 0 (none is no error), or as unwind_table_read(): what stood before has been added. */
int function_places_read(struct bytes image, struct function_places *places);
/* The place that holds a file offset, NULL if none does. Borrowed. */
const struct function_place *function_places_find(const struct function_places *places, u64 offset);

#endif
