/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading foreign bytes without overrunning them.
 *
 * Errors stick: a read past the end yields zero and sets `overrun`, so code reads straight on and
 * checks once.
 */
#ifndef BASE_CURSOR_H
#define BASE_CURSOR_H

#include "bpfprof/types.h"

#include <byteswap.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Borrowed bytes. */
struct bytes {
	const u8 *start;
	size_t length;
};

struct cursor {
	const u8 *next, *end;
	bool overrun;
	bool swap; /* the bytes were written on a machine of the other endianness */
};

static inline struct cursor cursor_of(struct bytes bytes)
{
	/* Empty bytes may have no start, and NULL + 0 is not defined. */
	return (struct cursor){.next = bytes.start,
			       .end = bytes.length ? bytes.start + bytes.length : bytes.start};
}

static inline size_t cursor_left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->next);
}

/* The next `length` bytes, borrowed, and steps over them; NULL (and `overrun`) if there are fewer.
 */
static inline const u8 *cursor_take(struct cursor *cursor, u64 length)
{
	const u8 *start = cursor->next;

	if (cursor->overrun || length > cursor_left(cursor)) {
		cursor->overrun = true;
		return NULL;
	}
	if (length) /* as in cursor_of() */
		cursor->next += length;
	return start;
}

static inline u8 cursor_u8(struct cursor *cursor)
{
	const u8 *from = cursor_take(cursor, 1);

	return from ? *from : 0;
}

static inline u16 cursor_u16(struct cursor *cursor)
{
	const u8 *from = cursor_take(cursor, sizeof(u16));
	u16 value = 0;

	if (from)
		memcpy(&value, from, sizeof(value));
	return cursor->swap ? bswap_16(value) : value;
}

static inline u32 cursor_u32(struct cursor *cursor)
{
	const u8 *from = cursor_take(cursor, sizeof(u32));
	u32 value = 0;

	if (from)
		memcpy(&value, from, sizeof(value));
	return cursor->swap ? bswap_32(value) : value;
}

static inline u64 cursor_u64(struct cursor *cursor)
{
	const u8 *from = cursor_take(cursor, sizeof(u64));
	u64 value = 0;

	if (from)
		memcpy(&value, from, sizeof(value));
	return cursor->swap ? bswap_64(value) : value;
}

/* A NUL terminated string inside the next `length` bytes, and steps over all of them; NULL (and
 * `overrun`) if they are not there or hold no NUL. */
static inline const char *cursor_text(struct cursor *cursor, u64 length)
{
	const u8 *start = cursor_take(cursor, length);

	if (start && !memchr(start, 0, length)) {
		cursor->overrun = true;
		return NULL;
	}
	return (const char *)start;
}

#endif
