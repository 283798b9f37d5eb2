/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A string that grows.
 */
#include "base/text.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "bpfprof/types.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

void text_grow(struct text *text, size_t more)
{
	size_t wanted = text->capacity ? text->capacity : 64;

	while (wanted <= text->length + more)
		wanted *= 2;
	text->bytes = must_resize_array(text->bytes, wanted, 1);
	text->capacity = wanted;
}

void text_appendv(struct text *text, const char *format, va_list arguments)
{
	va_list again;
	int length;

	va_copy(again, arguments);
	length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (length < 0)
		return;
	text_reserve(text, (size_t)length);
	vsnprintf(text->bytes + text->length, (size_t)length + 1, format, arguments);
	text->length += (size_t)length;
}

void text_appendf(struct text *text, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	text_appendv(text, format, arguments);
	va_end(arguments);
}

void text_append_padded(struct text *text, const char *string, size_t width)
{
	size_t length = string ? strlen(string) : 0;

	text_append_bytes(text, string, length);
	if (length >= width)
		return;
	text_reserve(text, width - length);
	memset(text->bytes + text->length, ' ', width - length);
	text->length += width - length;
	text->bytes[text->length] = 0;
}

/* Appends the digits up to `end`, right in a column of that width. */
static void append_right(struct text *text, int width, const char *start, const char *end)
{
	if (width > end - start)
		text_append_padded(text, NULL, (size_t)(width - (end - start)));
	text_append_bytes(text, start, (size_t)(end - start));
}

/* A double is mantissa / 2^shift, so its hundredths are exact in whole numbers, and so is where
 * printf() rounds: to the nearest, of two as near to the even one. */
void text_append_hundredths(struct text *text, int width, double value)
{
	enum { MANTISSA_BITS = 53, WORD_BITS = 64 };
	static const double most = 1000000.0;
	int exponent;
	u64 scaled, whole = 0, rest;
	char digits[16];
	char *const end = digits + sizeof(digits);
	char *start = end;

	if (!(value >= 0 && value < most)) {
		text_appendf(text, "%*.2f", width, value);
		return;
	}
	scaled = (u64)ldexp(frexp(value, &exponent), MANTISSA_BITS) * 100;
	if (MANTISSA_BITS - exponent < WORD_BITS) {
		u64 unit = 1ull << (MANTISSA_BITS - exponent);

		whole = scaled / unit;
		rest = scaled % unit;
		whole += rest > unit / 2 || (rest == unit / 2 && whole % 2);
	}
	for (int i = 0; i < 3 || whole; i++, whole /= 10) {
		if (i == 2)
			*--start = '.';
		*--start = (char)('0' + whole % 10);
	}
	append_right(text, width, start, end);
}

void text_append_u64(struct text *text, int width, unsigned long long value)
{
	char digits[24];
	char *const end = digits + sizeof(digits);
	char *start = end;

	do
		*--start = (char)('0' + value % 10);
	while (value /= 10);
	append_right(text, width, start, end);
}

void text_append_address(struct text *text, int digits, unsigned long long value)
{
	enum { MOST_DIGITS = 16 };
	char place[2 + MOST_DIGITS];
	char *const end = place + sizeof(place);
	char *start = end;
	bool has_prefix = value != 0;

	while (start > place + 2 && (value || end - start < digits)) {
		*--start = "0123456789abcdef"[value & 0xf];
		value >>= 4;
	}
	if (has_prefix) {
		*--start = 'x';
		*--start = '0';
	}
	text_append_bytes(text, start, (size_t)(end - start));
}

void text_append_hex(struct text *text, int width, unsigned long long value)
{
	char digits[16];
	char *const end = digits + sizeof(digits);
	char *start = end;

	do
		*--start = "0123456789abcdef"[value & 0xf];
	while (value >>= 4);
	append_right(text, width, start, end);
}

static const unsigned char *skip_plain(const unsigned char *next)
{
	while (*next >= ' ' && *next < 0x7f)
		next++;
	return next;
}

static void append_printable(struct text *text, const char *foreign, bool leaves_tabs)
{
	const unsigned char *next = (const unsigned char *)foreign;

	while (*next) {
		size_t bytes = (size_t)(skip_plain(next) - next);

		if (!bytes)
			bytes = leaves_tabs && *next == '\t' ? 1 : utf8_printable_bytes(next);
		if (bytes)
			text_append_bytes(text, next, bytes);
		else
			text_appendf(text, "\\x%02x", *next);
		next += bytes ? bytes : 1;
	}
}

void text_append_printable(struct text *text, const char *foreign)
{
	append_printable(text, foreign, false);
}

void text_append_words(struct text *text, const char *foreign)
{
	append_printable(text, foreign, true);
}

void text_truncate(struct text *text, size_t length)
{
	if (length >= text->length)
		return;
	text->length = length;
	text->bytes[length] = 0;
}

const char *text_view(const struct text *text)
{
	return text->bytes ? text->bytes : "";
}

char *text_take(struct text *text)
{
	char *bytes = text->bytes ? text->bytes : must_copy("");

	*text = (struct text){0};
	return bytes;
}

void text_release(struct text *text)
{
	free(text->bytes);
	*text = (struct text){0};
}
