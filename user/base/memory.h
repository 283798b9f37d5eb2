/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Allocation that cannot fail, and releasing what a declaration acquired.
 *
 * For memory that we size. A length that a stranger chose (file, kernel, network) is bounded by
 * the caller before it comes here.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Runs `function(&variable)` when the variable goes out of scope. */
#define CLEANUP(function) __attribute__((cleanup(function)))

/* Moves ownership out of a CLEANUP variable: yields its value and leaves NULL behind. */
#define TAKE(pointer)                                   \
	({                                              \
		__typeof__(pointer) taken_ = (pointer); \
		(pointer) = NULL;                       \
		taken_;                                 \
	})

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Zeroed memory of `bytes` bytes (0 gives a valid pointer); ends the program with one line if
 * there is none. The caller owns it, free(). */
void *must_alloc(size_t bytes) __attribute__((returns_nonnull));

/* Zeroed array of `count` items of `item_bytes`; ends the program if the product overflows. */
void *must_alloc_array(size_t count, size_t item_bytes) __attribute__((returns_nonnull));

/* The same for what is looked up at random places all over, like hash tables: large ones lie in
 * huge pages, if the system has them, which cost fewer faults and fewer misses of the TLB; and
 * there is memory behind all of it from the start, which costs less than to find that out page by
 * page. */
void *must_alloc_table(size_t count, size_t item_bytes) __attribute__((returns_nonnull));

/* realloc() for an array of `count` items that ends the program instead of failing; the new part is
 * not zeroed. */
void *must_resize_array(void *old, size_t count, size_t item_bytes)
	__attribute__((returns_nonnull));

/* From now on the heap lies in huge pages, if the system has them: for a command that ends soon and
 * reads much until then. To be called while there is one thread. */
void memory_prefer_speed(void);

/* Gives back the whole pages of a part of memory whose contents nobody wants any more: private
 * memory reads as zeroes from then on, what is mapped from a file comes from there again. */
void memory_forget(const void *start, size_t bytes);

/* A copy of `text`, owned by the caller; NULL gives NULL. */
char *must_copy(const char *text);

/* A copy of the first `bytes` bytes with a NUL behind them, owned by the caller. */
char *must_copy_bytes(const void *start, size_t bytes) __attribute__((returns_nonnull));

/* printf() into a new string, owned by the caller. */
char *must_format(const char *format, ...) __attribute__((format(printf, 1, 2), returns_nonnull));

static inline void freep(void *pointer)
{
	free(*(void **)pointer);
}

static inline void closep(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void fclosep(FILE **file)
{
	if (*file)
		fclose(*file);
}

static inline void closedirp(DIR **directory)
{
	if (*directory)
		closedir(*directory);
}

#endif
