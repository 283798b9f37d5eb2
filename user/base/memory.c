/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Allocation that cannot fail: without memory the program ends with one line.
 */
#include "base/memory.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/* The one exception to "libraries never exit": there is no memory left to say it with. */
static _Noreturn void out_of_memory(void)
{
	static const char sentence[] = "bpfprof: out of memory\n";
	ssize_t ignored = write(STDERR_FILENO, sentence, sizeof(sentence) - 1);

	(void)ignored;
	_exit(1);
}

static void *checked(void *memory)
{
	if (!memory)
		out_of_memory();
	return memory;
}

enum { HUGE_BYTES = 2 << 20 };

/* Where the part of the heap ends that was advised; 0: nobody has asked for speed. */
static _Atomic uintptr_t advised_end;

static bool speed_is_preferred(void)
{
	return atomic_load_explicit(&advised_end, memory_order_relaxed);
}

void memory_prefer_speed(void)
{
	enum { STEP_BYTES = 8 * HUGE_BYTES };

	mallopt(M_TOP_PAD, STEP_BYTES);
	mallopt(M_TRIM_THRESHOLD, 2 * STEP_BYTES); /* or its end comes and goes */
	mallopt(M_ARENA_MAX, 1);		   /* others are not advised */
	advised_end = ((uintptr_t)sbrk(0) + HUGE_BYTES - 1) & -(uintptr_t)HUGE_BYTES;
}

/* To be called now and then: malloc() may have made the heap longer. On failure nothing is lost. */
static void advise_heap(void)
{
	uintptr_t start = atomic_load_explicit(&advised_end, memory_order_relaxed), end;

	if (!start)
		return;
	end = (uintptr_t)sbrk(0) & -(uintptr_t)HUGE_BYTES;
	if (end > start && atomic_compare_exchange_strong(&advised_end, &start, end))
		madvise((void *)start, end - start, MADV_HUGEPAGE);
}

/* All of a large one, as a mapping in which one part is advised and another is not can only be made
 * longer by copying it. Where it has pages already, or on failure, nothing is lost. */
static void advise_array(void *items, size_t bytes)
{
	uintptr_t start = (uintptr_t)items & -(uintptr_t)sysconf(_SC_PAGESIZE);

	if (bytes >= HUGE_BYTES)
		madvise((void *)start, (uintptr_t)items + malloc_usable_size(items) - start,
			MADV_HUGEPAGE);
}

void *must_alloc(size_t bytes)
{
	advise_heap();
	return checked(calloc(1, bytes ? bytes : 1));
}

static void *alloc_array(size_t count, size_t item_bytes, bool is_advised)
{
	void *items;

	advise_heap();
	items = checked(calloc(count ? count : 1, item_bytes ? item_bytes : 1));
	if (is_advised)
		advise_array(items, count * item_bytes);
	return items;
}

void *must_alloc_array(size_t count, size_t item_bytes)
{
	return alloc_array(count, item_bytes, speed_is_preferred());
}

/* Makes the pages there now. A page that is read before it is written is first the kernel's zero
 * page, and to replace that by another one all CPUs of the process are interrupted. */
static void touch(char *memory, size_t bytes)
{
	enum { PAGE_BYTES = 4096 }; /* or more: then some are touched again */

	for (size_t at = 0; at < bytes; at += PAGE_BYTES)
		*(volatile char *)(memory + at) = 0;
}

void *must_alloc_table(size_t count, size_t item_bytes)
{
	void *table = alloc_array(count, item_bytes, true);

	touch(table, count * item_bytes);
	return table;
}

void *must_resize_array(void *old, size_t count, size_t item_bytes)
{
	void *items;

	if (!count || !item_bytes)
		count = item_bytes = 1;
	advise_heap();
	items = checked(reallocarray(old, count, item_bytes));
	if (speed_is_preferred())
		advise_array(items, count * item_bytes);
	return items;
}

void memory_forget(const void *start, size_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = ((uintptr_t)start + page - 1) & ~(page - 1);
	uintptr_t to = ((uintptr_t)start + bytes) & ~(page - 1);

	/* On failure nothing is gained. */
	if (from < to)
		madvise((void *)from, to - from, MADV_DONTNEED);
}

char *must_copy(const char *text)
{
	return text ? checked(strdup(text)) : NULL;
}

char *must_copy_bytes(const void *start, size_t bytes)
{
	char *copy = must_alloc(bytes + 1);

	if (bytes)
		memcpy(copy, start, bytes);
	return copy;
}

char *must_format(const char *format, ...)
{
	va_list arguments;
	char *text = NULL;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		out_of_memory();
	va_end(arguments);
	return text;
}
