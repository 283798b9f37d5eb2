/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Allocation that cannot fail: without memory the program ends with one line.
 */
#include "base/memory.h"

#include <stdarg.h>
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

void *must_alloc(size_t bytes)
{
	return checked(calloc(1, bytes ? bytes : 1));
}

void *must_alloc_array(size_t count, size_t item_bytes)
{
	return checked(calloc(count ? count : 1, item_bytes ? item_bytes : 1));
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
	enum { HUGE_BYTES = 2 << 20 };
	void *table = must_alloc_array(count, item_bytes);
	uintptr_t start = ((uintptr_t)table + HUGE_BYTES - 1) & ~(uintptr_t)(HUGE_BYTES - 1);
	uintptr_t end = (uintptr_t)table + count * item_bytes;

	/* Fresh memory has no pages yet; where it has some, or on failure, nothing is lost. */
	if (end > start && end - start >= HUGE_BYTES)
		madvise((void *)start, end - start, MADV_HUGEPAGE);
	touch(table, count * item_bytes);
	return table;
}

void *must_resize_array(void *old, size_t count, size_t item_bytes)
{
	if (!count || !item_bytes)
		count = item_bytes = 1;
	return checked(reallocarray(old, count, item_bytes));
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
