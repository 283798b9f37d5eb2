/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is printed of an address: made once per location, by whichever printer meets it first.
 */
#include "cmd/script_printer.h"

enum { ADDRESS_WIDTH = 16 };

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
		if (named && (fields & PRINT_symoff)) {
			text_append(text, "+0x");
			text_append_hex(text, 1, at->address - outer->start);
		}
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

static void make_frame(struct script_printer *printer, const struct location_row *at)
{
	u32 lines = at->line_count ? at->line_count : 1;

	for (u32 line = 0; line < lines; line++) {
		text_append(&printer->scratch, "\t");
		text_append_hex(&printer->scratch, ADDRESS_WIDTH, at->address);
		append_place(printer, at, line, line);
		append_origin(printer);
		text_append(&printer->scratch, "\n");
	}
}

/* --- texts --- */

/* The first time that a file is met is a matter of order: whose it was decides where it is looked
 * for. */
static void open_file(struct script_printer *printer, u32 file)
{
	struct script_names *names = printer->names;

	while (names->is_open.count <= file)
		*vec_add(&names->is_open) = false;
	if (!names->is_open.items[file] && printer->outlet && file) {
		pthread_mutex_unlock(&names->mutex);
		printer->outlet->wait(printer->outlet);
		pthread_mutex_lock(&names->mutex);
	}
	names->is_open.items[file] = true;
}

/* A location is wanted for its text alone, so there is one row for all of them; but what is known
 * of the source has rows of its own. */
static location_id locate(struct script_printer *printer, const struct virtual_place *place)
{
	struct script_names *names = printer->names;
	binary_id binary;

	if (names->knows_sources)
		return locator_find_anew(printer->locator, names->profile, place, &binary);
	names->profile->locations.items[names->asked] = locator_row(printer->locator,
								    names->profile, place);
	return names->asked;
}

static void make(struct script_printer *printer, const struct virtual_place *place, u8 kind)
{
	struct profile *profile = printer->profile;
	const struct location_row *at;
	location_id location = locate(printer, place);

	printer->origin = kind < ORIGIN_COUNT ? kind : ORIGIN_UNKNOWN;
	if (!printer->names->knows_sources)
		profile->locations.items[location].is_call = origin_is_call(printer->origin);
	symbolizer_name(printer->symbolizer, profile, location);
	text_truncate(&printer->scratch, 0);
	at = &profile->locations.items[location];
	if (kind == TEXT_LEAF)
		make_leaf(printer, at);
	else if (kind == TEXT_BRANCH_END)
		script_make_branch_end(printer, at);
	else
		make_frame(printer, at);
}

const struct place_text *script_find_text(struct script_printer *printer,
					  const struct virtual_place *place, u8 kind)
{
	struct script_names *names = printer->names;
	struct text_key key = {
		.place = locator_identify(printer->locator, place),
		.form = printer->plan->first_form + kind,
	};
	const struct place_text *text = place_texts_find(names->texts, &key);

	if (text)
		return text;
	pthread_mutex_lock(&names->mutex);
	open_file(printer, key.place.file);
	text = place_texts_find(names->texts, &key);
	if (!text) {
		make(printer, place, kind);
		text = place_texts_add(names->texts, &key, text_view(&printer->scratch),
				       printer->scratch.length);
	}
	pthread_mutex_unlock(&names->mutex);
	return text;
}

void script_append_text(struct script_printer *printer, const struct virtual_place *place, u8 kind)
{
	u64 generation = locator_generation(printer->locator, place->pid, place->space);
	struct frame_key key = {
		.address = place->address,
		.state = frame_state(generation, place->space),
		.form = printer->plan->first_form + kind,
	};
	struct frame_text *kept = frame_texts_place(printer->frames, &key);

	if (!frame_text_is(kept, &key))
		*kept = (struct frame_text){key, script_find_text(printer, place, kind)};
	text_append_bytes(&printer->text, kept->text->bytes, kept->text->length);
}

location_id script_locate(struct script_printer *printer, u32 pid, u64 address, u8 space)
{
	return locator_find(printer->locator, printer->profile, pid, address, space);
}

void script_append_leaf(struct script_printer *printer, const struct virtual_place *place)
{
	if (printer->plan->fields & (PRINT_sym | PRINT_dso | PRINT_srcline))
		script_append_text(printer, place, TEXT_LEAF);
}
