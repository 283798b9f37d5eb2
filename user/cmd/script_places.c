/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is printed of an address: made once per location.
 */
#include "cmd/script_printer.h"

#include <inttypes.h>

const char *script_text_of(const struct script_printer *printer, string_id id)
{
	return profile_text(printer->profile, id);
}

const char *script_binary_name(const struct script_printer *printer, const struct location_row *at)
{
	binary_id id = profile_location_binary(printer->profile, at);
	const struct binary_row *binary = &printer->profile->binaries.items[id];
	bool is_short = binary->kind == BINARY_MODULE && !binary->build_id_bytes;

	if (!id)
		return "[unknown]";
	/* perf knows modules by their file if the recording tells a build id of it. */
	return script_text_of(printer, is_short ? binary->short_name : binary->path);
}

/* Where a frame comes from, if that is asked for. */
static void append_origin(struct script_printer *printer)
{
	const char *word = frame_origin_word(printer->origin);

	if (word && printer->origin != ORIGIN_LIKELY && (printer->plan->fields & PRINT_provenance))
		text_appendf(&printer->scratch, " [%s]", word);
}

static const struct function_row *function_at(const struct script_printer *printer,
					      const struct location_row *at, u32 line)
{
	const struct line_row *row = &printer->profile->lines.items[at->first_line + line];

	return &printer->profile->functions.items[row->function];
}

const struct function_row *script_outer_function(const struct script_printer *printer,
						 const struct location_row *at)
{
	return at->line_count ? function_at(printer, at, at->line_count - 1) : NULL;
}

bool script_append_source_place(struct script_printer *printer, struct text *text,
				const struct location_row *at, u32 line)
{
	const struct line_row *row = &printer->profile->lines.items[at->first_line + line];
	struct text place = {0};
	bool is_known;

	if (!at->line_count)
		return false;
	is_known = source_text_append(&place, printer->profile, at, at->first_line + line);
	if (is_known && printer->layout.full_source_path) {
		text_truncate(&place, 0);
		text_appendf(&place, "%s:%" PRIu32, script_text_of(printer, row->file), row->line);
	}
	if (is_known)
		text_append_printable(text, text_view(&place));
	text_release(&place);
	return is_known;
}

/* The place in the source on a line of its own; perf 6.1 says there too what it does not know. */
static void append_source(struct script_printer *printer, const struct location_row *at, u32 line)
{
	struct text *text = &printer->scratch;
	size_t length = text->length;

	text_append(text, "\n  ");
	if (!script_append_source_place(printer, text, at, line))
		text_truncate(text, length);
}

/* " name+0xoff (binary)", as far as the fields are wanted, of the function of one line and the
 * place in the source of another. */
static void append_place(struct script_printer *printer, const struct location_row *at,
			 u32 function_line, u32 source_line)
{
	const struct function_row *outer = script_outer_function(printer, at);
	const struct function_row *named = outer ? function_at(printer, at, function_line) : NULL;
	struct text *text = &printer->scratch;
	u64 fields = printer->plan->fields;

	if (fields & PRINT_sym) {
		text_append(text, " ");
		text_append_printable(text,
				      named ? script_text_of(printer, named->name) : "[unknown]");
		/* an inlined function has no place of its own: perf counts from the outer one */
		if (named && (fields & PRINT_symoff))
			text_appendf(text, "+0x%" PRIx64, at->address - outer->start);
	}
	/* In front of the binary, where programs that read this take it for a part of the name. */
	if (printer->origin == ORIGIN_LIKELY)
		text_append(text, " [likely]");
	if (!(named && named->is_inlined) && (fields & PRINT_dso)) {
		text_append(text, " (");
		text_append_printable(text, script_binary_name(printer, at));
		text_append(text, ")");
	}
	if (fields & PRINT_srcline)
		append_source(printer, at, source_line);
	if (named && named->is_inlined)
		text_append(text, " (inlined)");
}

static void make_leaf(struct script_printer *printer, const struct location_row *at)
{
	append_place(printer, at, at->line_count ? at->line_count - 1 : 0, 0);
}

void script_make_frame(struct script_printer *printer, const struct location_row *at)
{
	u32 lines = at->line_count ? at->line_count : 1;

	for (u32 line = 0; line < lines; line++) {
		text_appendf(&printer->scratch, "\t%16" PRIx64, at->address);
		append_place(printer, at, line, line);
		append_origin(printer);
		text_append(&printer->scratch, "\n");
	}
}

static struct location_text new_text(struct script_printer *printer, location_id location,
				     make_text *make)
{
	struct text *made = &printer->scratch;

	symbolizer_name(printer->symbolizer, printer->profile, location);
	text_truncate(made, 0);
	make(printer, &printer->profile->locations.items[location]);
	return (struct location_text){
		.bytes = arena_copy(&printer->texts, text_view(made), made->length),
		.length = made->length,
	};
}

struct location_text script_location_text(struct script_printer *printer, location_texts *texts,
					  location_id location, make_text *make)
{
	while (texts->count <= location)
		*vec_add(texts) = (struct location_text){0};
	if (!texts->items[location].bytes)
		texts->items[location] = new_text(printer, location, make);
	return texts->items[location];
}

location_id script_locate(struct script_printer *printer, u32 pid, u64 address, u8 space)
{
	return locator_find(printer->locator, printer->profile, pid, address, space);
}

const char *script_leaf_text(struct script_printer *printer, location_id location)
{
	if (!(printer->plan->fields & (PRINT_sym | PRINT_dso | PRINT_srcline)))
		return "";
	printer->origin = ORIGIN_UNKNOWN;
	return script_location_text(printer, &printer->plan->leaves, location, make_leaf).bytes;
}
