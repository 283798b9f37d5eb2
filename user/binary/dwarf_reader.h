/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One thread's reading of units: which functions are at wanted addresses, and which lines. Private
 * to binary/.
 */
#ifndef BINARY_DWARF_READER_H
#define BINARY_DWARF_READER_H

#include "base/intern.h"
#include "base/vec.h"
#include "binary/dwarf_sections.h"
#include "binary/dwarf_split.h"
#include "binary/source_lines.h"

/* What all readers of a file share, and none changes. */
struct dwarf_file {
	struct dwarf_sections sections;
	struct dwarf_sections alternate; /* dwz's; .debug_info of length 0: none */
	struct dwarf_split_places split;
	bool only_whole; /* nothing of units whose split part is not found */
};

struct dwarf_reader {
	const struct dwarf_file *file;
	struct dwarf_handle handle, alternate;
	struct intern text; /* of the frames */
	u64 rows;	    /* read through the handle, which keeps them */
	bool has_left_out;  /* a unit that is not whole */
	bool is_damaged;    /* a unit could not be read, or not all of it */
};

/* Opens libdw's handles. Returns 0 or -EBADMSG. */
int dwarf_reader_open(const struct dwarf_file *file, struct dwarf_reader *ret_reader);
/* Closes; harmless on a zeroed struct. What frames borrow goes with it. */
void dwarf_reader_close(struct dwarf_reader *reader);

/* Source frames of addresses, as they are found. */
struct frames {
	VEC(struct source_frame) items;
};

/* Where an address' frames are. */
struct answer {
	u32 first, count;
};

/* Ascending; some may be equal. */
struct unit_addresses {
	const u64 *addresses;
	u32 count;
};

/*
 * Adds the frames at addresses of one unit.
 *
 * unit_offset  of its first DIE in .debug_info
 * answers      one for each address
 */
void dwarf_reader_read(struct dwarf_reader *reader, u64 unit_offset,
		       const struct unit_addresses *wanted, struct frames *frames,
		       struct answer *answers);

#endif
