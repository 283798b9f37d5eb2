/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One line a stack.
 */
#include "export/folded.h"

#include "base/memory.h"
#include "base/text.h"

/* Semicolons part frames, the last blank parts the count, and lines end. */
static void append_frame(struct text *line, const char *name)
{
	if (line->length)
		text_append(line, ";");
	for (; *name; name++) {
		char letter = *name == ';' ? ':' : (unsigned char)*name < ' ' ? ' ' : *name;

		text_append_bytes(line, &letter, 1);
	}
}

static void append_named(const struct fold *fold, frame_id frame, struct text *line)
{
	const char *name = fold_frame_name(fold, frame);
	const struct profile *profile = fold->profile;
	CLEANUP(freep) char *binary = NULL;
	binary_id row = fold->frames.items[frame].binary;

	if (*name) {
		append_frame(line, name);
		return;
	}
	binary = must_format("[%s]",
			     row ? profile_text(profile, profile->binaries.items[row].short_name)
				 : "unknown");
	append_frame(line, binary);
}

static void write_row(const struct fold *fold, const struct folded_row *row, frame_id *frames,
		      FILE *out)
{
	const struct profile *profile = fold->profile;
	struct text line = {0};
	u32 count = 0;

	for (path_id path = row->path; path; path = fold->paths.items[path].caller)
		frames[count++] = fold->paths.items[path].frame;
	append_frame(&line, profile_text(profile, profile->labels.items[row->labels].comm));
	if (!count)
		append_named(fold, row->leaf, &line);
	while (count)
		append_named(fold, frames[--count], &line);
	fprintf(out, "%s %llu\n", text_view(&line), (unsigned long long)row->samples);
	text_release(&line);
}

void folded_write(const struct fold *fold, u32 source, FILE *out)
{
	CLEANUP(freep)
	frame_id *frames = must_alloc_array((size_t)fold->deepest + 1, sizeof(*frames));

	for (size_t i = 0; i < fold->rows.count; i++)
		if (fold->rows.items[i].source == source)
			write_row(fold, &fold->rows.items[i], frames, out);
}
