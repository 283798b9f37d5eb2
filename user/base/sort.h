/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sorting row numbers: by a rule, on all CPUs; or by a number each.
 */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include "bpfprof/types.h"

#include <stddef.h>

/* As for qsort_r(), of two u32; several threads ask it at once. */
typedef int sort_compare(const void *left, const void *right, void *context);

/* Sorts; rows that compare as equal keep their order. The result does not depend on the number of
 * CPUs, not even if `compare` is no strict order. */
void sort_rows(u32 *rows, size_t count, sort_compare *compare, void *context);

/* What a row is sorted by. */
struct sort_key {
	u64 key;
	u32 row;
};

/* Sorts by key; equal ones keep their order. `other` has room for as many. Returns where they are
 * in the end: `keys` or `other`. */
struct sort_key *sort_by_key(struct sort_key *keys, struct sort_key *other, size_t count);

#endif
