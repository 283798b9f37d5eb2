/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Units whose DIEs are in a file of their own (-gsplit-dwarf). Private to binary/.
 */
#ifndef BINARY_DWARF_SPLIT_H
#define BINARY_DWARF_SPLIT_H

#include "base/cursor.h"
#include "binary/dwarf_inlines.h"
#include "binary/dwarf_sections.h"

/* Where split units of a file are. */
struct dwarf_split_places {
	const char *root, *path; /* as in source_lines_open(); NULL: nothing is opened */
	struct bytes package_image;
	struct dwarf_sections package; /* of path.dwp; .debug_info of length 0: there is none */
};

/* Opens path.dwp, if there is one. */
void dwarf_split_find_package(struct dwarf_split_places *places);
/* Frees; harmless on a zeroed struct. */
void dwarf_split_release(struct dwarf_split_places *places);

/* A split unit while it is read. */
struct dwarf_split {
	struct bytes image;
	struct dwarf_sections own, sections;
	struct dwarf_handle handle;
	struct dwarf_root root;
};

/*
 * Opens the split unit of a skeleton: out of the package, else the .dwo file where the skeleton
 * says it was written, else in the folder of the ELF file. It must have the skeleton's id.
 *
 * main       the sections that the skeleton is in; they must outlive the result
 * ret_split  dwarf_split_close() it
 * Returns 0, -ENODATA (the unit is no skeleton), -ENOENT (not found) or -EBADMSG.
 */
int dwarf_split_open(const struct dwarf_split_places *places, const struct dwarf_sections *main,
		     Dwarf_Die *skeleton, struct dwarf_split *ret_split);
/* Closes; harmless on a zeroed struct. For CLEANUP too. */
void dwarf_split_close(struct dwarf_split *split);

#endif
