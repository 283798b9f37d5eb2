/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A string that grows. A zeroed `struct text` is a valid empty one.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <string.h>

struct text {
	char *bytes; /* NUL terminated, NULL while empty */
	size_t length, capacity;
};

/* Makes room for `more` bytes and a NUL behind the text, where text_reserve() finds none. */
void text_grow(struct text *text, size_t more);

/* Room for `more` bytes and a NUL behind the text. */
static inline void text_reserve(struct text *text, size_t more)
{
	if (text->length + more >= text->capacity)
		text_grow(text, more);
}

/* Appends `count` bytes, NUL bytes included. */
static inline void text_append_bytes(struct text *text, const void *bytes, size_t count)
{
	text_reserve(text, count);
	if (count)
		memcpy(text->bytes + text->length, bytes, count);
	text->length += count;
	text->bytes[text->length] = 0;
}

/* Appends a NUL terminated string; NULL appends nothing. */
static inline void text_append(struct text *text, const char *string)
{
	if (string)
		text_append_bytes(text, string, strlen(string));
}

/* Appends like printf(). */
void text_appendf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends like vprintf(). */
void text_appendv(struct text *text, const char *format, va_list arguments);
/* Appends a string and blanks up to `width` bytes; NULL is only blanks. */
void text_append_padded(struct text *text, const char *string, size_t width);
/* Appends like printf("%*.2f") to the last digit, but many times as fast. */
void text_append_hundredths(struct text *text, int width, double value);
/* Appends a number like printf("%*llu"), but many times as fast. */
void text_append_u64(struct text *text, int width, unsigned long long value);
/* Appends an address like printf("%#.*llx"), with at least so many digits, but many times as fast.
 */
void text_append_address(struct text *text, int digits, unsigned long long value);
/* Appends a number like printf("%*llx"), but many times as fast. */
void text_append_hex(struct text *text, int width, unsigned long long value);
/* Appends a foreign string so that it can't steer a terminal: control bytes (C0, C1, DEL) and bytes
 * that are not UTF-8 become \xNN. */
void text_append_printable(struct text *text, const char *foreign);
/* The same, but leaves tabs. */
void text_append_words(struct text *text, const char *foreign);

/* Shortens to `length` bytes; longer than the text changes nothing. */
void text_truncate(struct text *text, size_t length);
/* Borrowed until the next change of `text`; "" while empty. */
const char *text_view(const struct text *text);
/* The caller owns the string; `text` is empty again. Never NULL. */
char *text_take(struct text *text);
/* Frees the contents; `text` is empty again. */
void text_release(struct text *text);

#endif
