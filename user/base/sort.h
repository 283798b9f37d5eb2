/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sorting row numbers on all CPUs.
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

#endif
