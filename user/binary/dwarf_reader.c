/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One thread's reading of units.
 *
 * libdw keeps what it has read of a unit until the handle is closed: that is done when much has
 * gathered, so memory does not grow with the number of units.
 */
#include "binary/dwarf_reader.h"

#include "binary/dwarf_inlines.h"
#include "binary/dwarf_rows.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

enum { ROWS_KEPT_MAX = 1 << 20 /* some 50 bytes each */ };

static const u32 NO_PATH = ~0u;

/* A unit while its frames are made. */
struct unit {
	struct dwarf_reader *reader;
	struct dwarf_inlines inlines;
	struct dwarf_rows rows;
	struct frames *frames;
	u32 *paths; /* ids of the files' paths, where they were made; ~0: there is none */
};

static int open_handles(struct dwarf_reader *reader)
{
	const struct dwarf_file *file = reader->file;
	int error = dwarf_handle_open(&file->sections, &reader->handle);

	if (error || !file->alternate.parts[DWARF_info].length)
		return error;
	if (dwarf_handle_open(&file->alternate, &reader->alternate))
		return 0; /* then names are missing, but lines are there */
	dwarf_setalt(reader->handle.dwarf, reader->alternate.dwarf);
	return 0;
}

static void close_handles(struct dwarf_reader *reader)
{
	dwarf_handle_close(&reader->handle);
	dwarf_handle_close(&reader->alternate);
	reader->rows = 0;
}

int dwarf_reader_open(const struct dwarf_file *file, struct dwarf_reader *ret_reader)
{
	struct dwarf_reader reader = {.file = file};
	int error = open_handles(&reader);

	if (!error)
		*ret_reader = reader;
	return error;
}

void dwarf_reader_close(struct dwarf_reader *reader)
{
	close_handles(reader);
	intern_release(&reader->text);
	*reader = (struct dwarf_reader){0};
}

static const char *keep(struct unit *unit, const char *text)
{
	struct intern *kept = &unit->reader->text;

	return text ? intern_view(kept, intern_text(kept, text)) : NULL;
}

static u64 number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_attr(die, name, &attribute) && !dwarf_formudata(&attribute, &value) ? value
											 : 0;
}

static u32 make_path(struct unit *unit, u64 number)
{
	struct dwarf_path path;
	CLEANUP(freep) char *joined = NULL;
	size_t length;

	if (!dwarf_rows_path(&unit->rows, number, &path))
		return NO_PATH;
	length = path.folder ? strlen(path.folder) : 0;
	if (!length)
		return intern_text(&unit->reader->text, path.file);
	joined = must_format("%s%s%s", path.folder, path.folder[length - 1] == '/' ? "" : "/",
			     path.file);
	return intern_text(&unit->reader->text, joined);
}

static const char *path_of(struct unit *unit, u64 number)
{
	if (number >= unit->rows.file_count)
		return NULL;
	if (!unit->paths[number])
		unit->paths[number] = make_path(unit, number);
	return unit->paths[number] == NO_PATH
		       ? NULL
		       : intern_view(&unit->reader->text, unit->paths[number]);
}

static struct source_frame *add_frame(struct unit *unit, const struct dwarf_place *place)
{
	struct source_frame *frame = vec_add(&unit->frames->items);

	*frame = (struct source_frame){
		.file = path_of(unit, place->file), .line = place->line, .column = place->column};
	return frame;
}

/* Where a function was inlined: the place of the frame around it. */
static struct dwarf_place place_of_call(Dwarf_Die *die)
{
	return (struct dwarf_place){
		.file = number_of(die, DW_AT_call_file),
		.line = (u32)number_of(die, DW_AT_call_line),
		.column = (u32)number_of(die, DW_AT_call_column),
	};
}

static void add_frames(struct unit *unit, u64 address, u32 row, struct answer *answer)
{
	struct dwarf_place place = {.file = ~0ull};
	bool has_row = dwarf_rows_find(&unit->rows, address, &place);

	answer->first = (u32)unit->frames->items.count;
	while (row) {
		struct dwarf_function *function = &unit->inlines.rows.items[row];
		struct source_frame *frame;

		if (dwarf_tag(&function->die) == DW_TAG_subprogram)
			break;
		frame = add_frame(unit, &place);
		frame->is_inlined = true;
		frame->function = keep(unit, dwarf_function_name(&function->die));
		place = place_of_call(&function->die);
		row = function->caller;
	}
	/* Around what was inlined there is a function, even if DWARF lost it. */
	if (row || has_row || unit->frames->items.count > answer->first)
		add_frame(unit, &place);
	answer->count = (u32)unit->frames->items.count - answer->first;
}

static void read_unit(struct unit *unit, Dwarf_Die *die, const struct unit_addresses *wanted,
		      struct answer *answers)
{
	const struct dwarf_file *file = unit->reader->file;
	CLEANUP(dwarf_split_close) struct dwarf_split split = {0};
	struct dwarf_root root = {.die = *die};
	int split_error = dwarf_split_open(&file->split, &file->sections, die, &split);

	/* Without its split part a unit still has lines. */
	if (split_error == -ENOENT && file->only_whole) {
		unit->reader->has_left_out = true;
		return;
	}
	dwarf_inlines_read(split.handle.dwarf ? &split.root : &root, wanted->addresses,
			   wanted->count, &unit->inlines);
	dwarf_rows_read(die, &file->sections, &unit->rows);
	unit->reader->is_damaged |= split_error == -EBADMSG || unit->inlines.is_damaged ||
				    unit->rows.is_damaged;
	unit->paths = must_alloc_array(unit->rows.file_count, sizeof(u32));
	unit->reader->rows += unit->rows.line_count;
	for (u32 i = 0; i < wanted->count; i++)
		add_frames(unit, wanted->addresses[i], unit->inlines.innermost[i], &answers[i]);
	dwarf_inlines_release(&unit->inlines);
	free(unit->paths);
}

void dwarf_reader_read(struct dwarf_reader *reader, u64 unit_offset,
		       const struct unit_addresses *wanted, struct frames *frames,
		       struct answer *answers)
{
	struct unit unit = {.reader = reader, .frames = frames};
	Dwarf_Die die;

	if (reader->rows > ROWS_KEPT_MAX)
		close_handles(reader);
	memset(answers, 0, wanted->count * sizeof(*answers));
	if ((!reader->handle.dwarf && open_handles(reader)) ||
	    !dwarf_offdie(reader->handle.dwarf, unit_offset, &die) ||
	    dwarf_tag(&die) == DW_TAG_invalid)
		reader->is_damaged = true;
	else
		read_unit(&unit, &die, wanted, answers);
}
