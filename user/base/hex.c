/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bytes as rows of hexadecimal and text.
 */
#include "base/hex.h"

#include <ctype.h>

void hex_write_row(FILE *out, struct bytes bytes, size_t at, size_t width)
{
	for (size_t i = at; i < at + width; i++)
		if (i < bytes.length)
			fprintf(out, " %02x", bytes.start[i]);
		else
			fputs("   ", out);
	fputs("  ", out);
	for (size_t i = at; i < at + width; i++)
		fputc(i >= bytes.length		? ' '
		      : isprint(bytes.start[i]) ? bytes.start[i]
						: '.',
		      out);
	fputc('\n', out);
}
