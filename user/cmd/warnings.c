/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Warnings of the reader, in the form of every other sentence of ours.
 */
#include "cmd/warnings.h"

#include <stdio.h>
#include <string.h>

void print_warnings(const struct perfdata *data)
{
	const char *line = perfdata_warnings(data);

	while (*line) {
		size_t length = strcspn(line, "\n");

		fprintf(stderr, "bpfprof: %.*s\n", (int)length, line);
		line += length;
		if (*line)
			line++;
	}
}
