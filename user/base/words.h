/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Foreign text taken apart: lines, words, and the numbers that they are.
 */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include "base/cursor.h"

/* The next word of `text`, up to `separator` or the end, and steps over both. With '\n': the next
 * line. */
static inline struct bytes word_take(struct bytes *text, char separator)
{
	const u8 *end = text->length ? memchr(text->start, separator, text->length) : NULL;
	struct bytes word = {text->start, end ? (size_t)(end - text->start) : text->length};
	size_t taken = word.length + (end != NULL);

	text->start += taken;
	text->length -= taken;
	return word;
}

/* Steps over `prefix`, if the word begins with it. Returns whether it does. */
static inline bool word_drop(struct bytes *word, const char *prefix)
{
	size_t length = strlen(prefix);

	if (word->length < length || memcmp(word->start, prefix, length) != 0)
		return false;
	word->start += length;
	word->length -= length;
	return true;
}

/* Steps over the blanks in front. */
static inline void word_drop_blanks(struct bytes *word)
{
	while (word_drop(word, " "))
		;
}

/* The value of a digit, 16 if it is none. */
static inline unsigned int digit_value(u8 letter)
{
	if (letter >= '0' && letter <= '9')
		return letter - '0';
	letter |= 'a' ^ 'A';
	return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10u : 16;
}

/* Reads a word that is nothing but digits of `base` (10 or 16). Returns false if it is not, or the
 * number has more than 64 bits. */
static inline bool word_number(struct bytes word, unsigned int base, u64 *ret_value)
{
	u64 value = 0;

	for (size_t i = 0; i < word.length; i++) {
		unsigned int digit = digit_value(word.start[i]);

		if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return false;
	}
	*ret_value = value;
	return word.length > 0;
}

#endif
