/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Places in the source as perf writes them.
 *
 * Source: Linux 6.1, tools/perf/util/srcline.c, __get_srcline(); output of perf 6.1. Where a
 * library has a table of symbols and no DWARF, the program that perf asks answers "??:0".
 */
#include "profile/source_text.h"

#include <inttypes.h>
#include <string.h>

static const char unknown_place[] = "??:0";

/* Entries of the linkage table, whose names are made up. */
static bool is_linkage(const char *name)
{
	size_t length = strlen(name);

	return length > 4 && !strcmp(name + length - 4, "@plt");
}

bool source_text_append(struct text *text, const struct profile *profile,
			const struct location_row *location, u32 line)
{
	const struct line_row *row = &profile->lines.items[line];
	const struct function_row *function = &profile->functions.items[row->function];
	const struct binary_row *binary = &profile->binaries.items[location->binary];
	const char *file = profile_text(profile, row->file), *slash = strrchr(file, '/'), *name;

	if (row->file) {
		text_append(text, slash ? slash + 1 : file);
		text_appendf(text, ":%" PRIu32, row->line);
		return true;
	}
	name = profile_text(profile, function->name);
	if (location->binary && !row->function) {
		text_append(text, profile_text(profile, binary->short_name));
		text_appendf(text, "[%" PRIx64 "]", location->address);
	} else if (location->binary && (function->is_anonymous || is_linkage(name) ||
					space_is_kernel(location->space))) {
		text_append(text, name);
		text_appendf(text, "+%" PRIu64, location->address - function->start);
	} else {
		text_append(text, unknown_place);
	}
	return false;
}

size_t source_text_file_length(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon && strcmp(text, unknown_place) != 0 ? (size_t)(colon - text) : 0;
}
