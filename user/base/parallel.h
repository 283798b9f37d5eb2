/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Work that falls into independent pieces, on all CPUs.
 */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

#include <stddef.h>

/* How many threads parallel_run() has for work of many pieces. */
size_t parallel_width(void);

/* Does piece `index` of the work. */
typedef void parallel_work(void *context, size_t index);

/*
 * Does the pieces 0 … count - 1, each once, in any order, and returns when all are done.
 *
 * The caller's thread works too, with one more for each further CPU that is online; where no thread
 * is to be had, it does everything. `context` is shared: pieces must not write the same things.
 */
void parallel_run(size_t count, parallel_work *work, void *context);

#endif
