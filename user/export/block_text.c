/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ranges of code.
 *
 * Source of the format: output of perf 6.1.
 */
#include "export/block_text.h"

#include <inttypes.h>

bool block_append_source(struct text *text, const struct profile *profile, location_id location)
{
	const struct location_row *row = &profile->locations.items[location];

	return location &&
	       source_text_append(text, profile, row, row->line_count ? row->first_line : 0);
}

void block_append_range(struct text *text, const struct profile *profile,
			const struct code_block *block)
{
	struct text from = {0}, to = {0};

	if (block_append_source(&from, profile, block->start_at) &&
	    block_append_source(&to, profile, block->end_at))
		text_appendf(text, "[%s -> %s]", text_view(&from), text_view(&to));
	else
		text_appendf(text, "[%7" PRIx64 " -> %7" PRIx64 "]", block->start, block->end);
	text_release(&from);
	text_release(&to);
}
