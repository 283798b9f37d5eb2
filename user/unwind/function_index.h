/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a few functions of an ELF file begin and end: by the sorted table of .eh_frame_hdr, as
 * unwinders find them, so that of a large file next to nothing is read.
 */
#ifndef UNWIND_FUNCTION_INDEX_H
#define UNWIND_FUNCTION_INDEX_H

#include "unwind/function_bounds.h"

struct function_index;

/* Opens the index of an open file, which stays the caller's. Returns 0, or without a sentence:
 * -ENOTSUP (it has no such table: function_places_read() reads all), or why it cannot be read.
 * function_index_free() it. */
int function_index_open(int fd, struct function_index **ret_index);
/* Frees; NULL is fine. */
void function_index_free(struct function_index *index);
/* What function_places_find() would find, if the table is true. Borrowed until the next one is
 * asked for. */
const struct function_place *function_index_find(struct function_index *index, u64 offset);
/* The number of a place that was found just now: the same for each offset in it, and they ascend
 * from 0 in the order of first finding. */
size_t function_index_number(const struct function_index *index,
			     const struct function_place *place);

#endif
