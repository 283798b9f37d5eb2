/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The line rows of a unit.
 *
 * Of several rows at one address the last one counts, and whether a row begins a statement does not
 * matter: llvm-symbolizer's rules.
 *
 * libdw joins a file to its folder, but that to the unit's folder only if it is the first one, and
 * does not tell which it was. As the first one is nearly always absolute, what is relative is not
 * complete; where the first is relative (-ffile-prefix-map), it is told from the others by its
 * text, and if another has the same text, only file 0 is in the first.
 */
#include "binary/dwarf_rows.h"

#include <dwarf.h>
#include <string.h>

/* The length of the unit's line program, as its header says. */
static u64 program_bytes(Dwarf_Die *unit, const struct dwarf_sections *sections)
{
	struct cursor cursor = cursor_of(sections->parts[DWARF_line]);
	Dwarf_Attribute attribute;
	Dwarf_Word offset;
	u64 bytes;

	cursor.swap = dwarf_sections_are_swapped(sections);
	if (!dwarf_attr(unit, DW_AT_stmt_list, &attribute) || dwarf_formudata(&attribute, &offset))
		return 0;
	cursor_take(&cursor, offset);
	bytes = cursor_u32(&cursor);
	return bytes == ~(u32)0 ? cursor_u64(&cursor) : bytes;
}

void dwarf_rows_read(Dwarf_Die *unit, const struct dwarf_sections *sections,
		     struct dwarf_rows *ret_rows)
{
	struct dwarf_rows rows = {0};
	Dwarf_Attribute attribute;

	rows.is_damaged = dwarf_hasattr(unit, DW_AT_stmt_list);
	*ret_rows = rows;
	if (program_bytes(unit, sections) > DWARF_ROWS_PROGRAM_MAX)
		return;
	if (!dwarf_getsrclines(unit, &rows.lines, &rows.line_count))
		rows.is_damaged = false;
	else
		rows.line_count = 0;
	if (dwarf_getsrcfiles(unit, &rows.files, &rows.file_count))
		rows.file_count = 0;
	if (rows.file_count && dwarf_getsrcdirs(rows.files, &rows.folders, &rows.folder_count))
		rows.folder_count = 0;
	if (dwarf_attr(unit, DW_AT_comp_dir, &attribute))
		rows.unit_folder = dwarf_formstring(&attribute);
	*ret_rows = rows;
}

static u64 address_of(const struct dwarf_rows *rows, size_t row)
{
	Dwarf_Addr address = 0;

	dwarf_lineaddr(dwarf_onesrcline(rows->lines, row), &address);
	return address;
}

bool dwarf_rows_find(const struct dwarf_rows *rows, u64 address, struct dwarf_place *ret_place)
{
	size_t low = 0, high = rows->line_count;
	int line = 0, column = 0;
	Dwarf_Files *files;
	size_t number;
	Dwarf_Line *row;
	bool is_end;

	/* The first row behind the address. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (address_of(rows, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	row = dwarf_onesrcline(rows->lines, low - 1);
	if (dwarf_lineendsequence(row, &is_end) || is_end || dwarf_line_file(row, &files, &number))
		return false;
	dwarf_lineno(row, &line);
	dwarf_linecol(row, &column);
	*ret_place = (struct dwarf_place){.file = number, .line = (u32)line, .column = (u32)column};
	return true;
}

/* Whether a path begins with a folder. */
static bool is_in(const char *path, const char *folder)
{
	size_t length = folder ? strlen(folder) : 0;

	return length && !strncmp(path, folder, length) && path[length] == '/';
}

/* Whether a relative path has the unit's folder in it already. */
static bool is_complete(const struct dwarf_rows *rows, const char *path, u64 number)
{
	if (!rows->folder_count || !is_in(path, rows->folders[0]))
		return false;
	for (size_t i = 1; number && i < rows->folder_count; i++) {
		if (is_in(path, rows->folders[i]))
			return false;
	}
	return true;
}

bool dwarf_rows_path(const struct dwarf_rows *rows, u64 number, struct dwarf_path *ret_path)
{
	const char *file = number < rows->file_count
				   ? dwarf_filesrc(rows->files, number, NULL, NULL)
				   : NULL;

	/* Before DWARF 5 files are counted from 1, and libdw calls the missing one "???". */
	if (!file || (!number && !strcmp(file, "???")))
		return false;
	*ret_path = (struct dwarf_path){.file = file};
	if (file[0] != '/' && !is_complete(rows, file, number))
		ret_path->folder = rows->unit_folder;
	return true;
}
