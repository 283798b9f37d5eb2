/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The line rows of a unit. Private to binary/.
 */
#ifndef BINARY_DWARF_ROWS_H
#define BINARY_DWARF_ROWS_H

#include "binary/dwarf_sections.h"
#include "bpfprof/types.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

/* Each byte of the program can make a row, which libdw needs some 100 bytes for while it reads. The
 * amalgamation of SQLite, 269,000 lines, takes 1 MiB. */
enum { DWARF_ROWS_PROGRAM_MAX = 16 << 20 };

struct dwarf_rows {
	Dwarf_Lines *lines;
	size_t line_count;
	Dwarf_Files *files;
	size_t file_count;
	const char *const *folders; /* of the files; the first is that of the unit */
	size_t folder_count;
	const char *unit_folder; /* NULL: unknown */
	bool is_damaged;	 /* there should be some, and they could not be read */
};

struct dwarf_place {
	u64 file;	  /* its number in the unit; may be of no file */
	u32 line, column; /* 0: unknown */
};

/* A path: `folder` (NULL: none) and `file`. Borrowed from the handle. */
struct dwarf_path {
	const char *folder, *file;
};

/* Reads the rows of a unit, all unknown if they are malformed, or their program is longer than
 * DWARF_ROWS_PROGRAM_MAX. They stay with libdw's handle.
 * unit      its first DIE
 * sections  that the unit is in */
void dwarf_rows_read(Dwarf_Die *unit, const struct dwarf_sections *sections,
		     struct dwarf_rows *ret_rows);

/* The row at an address; false if there is none. */
bool dwarf_rows_find(const struct dwarf_rows *rows, u64 address, struct dwarf_place *ret_place);
/* The path of a file by its number in the unit; false if there is none. */
bool dwarf_rows_path(const struct dwarf_rows *rows, u64 number, struct dwarf_path *ret_path);

#endif
