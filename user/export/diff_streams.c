/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Streams in two columns.
 *
 * Source of the layout: output of perf 6.1; tools/perf/util/stream.c.
 */
#include "export/diff_streams.h"

#include "base/text.h"

#include <inttypes.h>

enum { WIDTH = 35 };

/* Which columns a line has. */
enum columns { BOTH, OLD, NEW };

static enum columns columns_of(const struct stream *stream)
{
	if (stream->sides[0].is_hot && stream->sides[1].is_hot)
		return BOTH;
	return stream->sides[0].is_hot ? OLD : NEW;
}

static void write_line(enum columns columns, const char *old, const char *new, FILE *out)
{
	if (columns == OLD)
		fprintf(out, "%*s\n", WIDTH, old);
	else
		fprintf(out, "%*s\t%*s\n", WIDTH, columns == BOTH ? old : "", WIDTH, new);
}

static void append_summary(struct text *text, const struct streams *streams,
			   const struct stream *stream, u32 side)
{
	double share = (double)stream->sides[side].period / (double)streams->periods[side];

	text_appendf(text, "cycles: %" PRIu64 ", hits: %.2f%%", stream->sides[side].cycles,
		     100 * share);
}

static void append_frame(struct text *text, const struct fold *fold, frame_id frame)
{
	const char *name = fold_frame_name(fold, frame);

	if (!*name) {
		text_appendf(text, "0x%" PRIx64, fold_frame_start(fold, frame));
		return;
	}
	text_append_printable(text, name);
	text_append(text, " ");
	text_append_printable(text, fold_frame_source(fold, frame));
}

static void write_stream(const struct streams *streams, const struct stream *stream,
			 const struct fold *fold, FILE *out)
{
	static const char dashes[] = "---------------------------";
	enum columns columns = columns_of(stream);
	struct text old = {0}, new = {0};

	if (columns != NEW)
		append_summary(&old, streams, stream, 0);
	if (columns != OLD)
		append_summary(&new, streams, stream, 1);
	write_line(columns, text_view(&old), text_view(&new), out);
	/* perf's first column has one more where there are two. */
	write_line(columns, columns == BOTH ? dashes : dashes + 1, dashes + 1, out);
	for (u32 i = 0; i < stream->depth; i++) {
		text_truncate(&old, 0);
		append_frame(&old, fold, streams->frames.items[stream->first + i]);
		write_line(columns, text_view(&old), text_view(&old), out);
	}
	text_release(&old);
	text_release(&new);
}

void diff_write_streams(const struct streams *streams, const struct fold *fold, FILE *out)
{
	static const struct {
		const char *title, *heading;
	} parts[] = {
		[BOTH] = {"[ Matched hot streams ]", "hot chain pair"},
		[OLD] = {"\n[ Hot streams in old perf data only ]", "hot chain"},
		[NEW] = {"\n[ Hot streams in new perf data only ]", "hot chain"},
	};

	for (u32 part = 0; part < ARRAY_COUNT(parts); part++) {
		u32 number = 0;

		fprintf(out, "%s\n", parts[part].title);
		for (size_t i = 0; i < streams->rows.count; i++) {
			const struct stream *stream = &streams->rows.items[i];

			if (columns_of(stream) != (enum columns)part)
				continue;
			fprintf(out, "\n%s %" PRIu32 ":\n", parts[part].heading, ++number);
			write_stream(streams, stream, fold, out);
		}
	}
}
