/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * UTF-8 by the table of well-formed byte sequences. Source: RFC 3629, section 4.
 */
#include "base/utf8.h"

#include "base/memory.h"

struct sequence {
	unsigned char first_low, first_high;   /* range of the first byte */
	unsigned char second_low, second_high; /* range of the second; all others are 80 … BF */
	size_t bytes;
};

static const struct sequence sequences[] = {
	{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
	{0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
	{0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

static const struct sequence *sequence_of(unsigned char first)
{
	for (size_t i = 0; i < ARRAY_COUNT(sequences); i++)
		if (first >= sequences[i].first_low && first <= sequences[i].first_high)
			return &sequences[i];
	return NULL;
}

size_t utf8_bytes(const unsigned char *text)
{
	const struct sequence *sequence;

	if (text[0] < 0x80)
		return text[0] ? 1 : 0;
	sequence = sequence_of(text[0]);
	if (!sequence || text[1] < sequence->second_low || text[1] > sequence->second_high)
		return 0;
	for (size_t i = 2; i < sequence->bytes; i++)
		if (text[i] < 0x80 || text[i] > 0xbf)
			return 0;
	return sequence->bytes;
}

size_t utf8_printable_bytes(const unsigned char *text)
{
	if (text[0] < 0x20 || text[0] == 0x7f)
		return 0;
	if (text[0] == 0xc2 && text[1] >= 0x80 && text[1] <= 0x9f) /* C1 controls */
		return 0;
	return utf8_bytes(text);
}
