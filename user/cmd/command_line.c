/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Our own command line, from /proc.
 */
#include "cmd/command_line.h"

#include "base/file.h"
#include "base/vec.h"

#include <string.h>

enum { COMMAND_LINE_BYTES = 4 << 20 };

struct command_line command_line_read(void)
{
	struct command_line line = {0};
	VEC(const char *) words = {0};
	size_t length;

	if (file_read("/proc/self/cmdline", COMMAND_LINE_BYTES, &line.text, &length))
		return line;
	for (size_t at = 0; at < length; at += strlen(line.text + at) + 1)
		*vec_add(&words) = line.text + at;
	line.words = words.items;
	line.count = words.count;
	return line;
}

void command_line_release(struct command_line *line)
{
	free(line->text);
	free(line->words);
	*line = (struct command_line){0};
}
