/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which unit of the DWARF of a file has the code at an address. Private to binary/.
 */
#ifndef BINARY_DWARF_UNITS_H
#define BINARY_DWARF_UNITS_H

#include "base/vec.h"
#include "bpfprof/types.h"

#include <elfutils/libdw.h>
#include <stdbool.h>

/* [start, end) belongs to the unit whose first DIE is at `unit` in .debug_info. */
struct unit_range {
	u64 start, end, unit;
};

struct dwarf_units {
	VEC(struct unit_range) ranges; /* ascending, without overlaps */
	bool is_damaged;	       /* of some units it cannot be told */
};

/* Reads .debug_aranges, and the ranges of units that are not in it. Where units overlap the first
 * of them has the address. What is malformed is left out, and what goes beyond `ranges_max`. */
void dwarf_units_read(Dwarf *dwarf, u64 ranges_max, struct dwarf_units *ret_units);
/* Frees; harmless on a zeroed struct. */
void dwarf_units_release(struct dwarf_units *units);

/* The range that has an address, NULL if none does. Borrowed. */
const struct unit_range *dwarf_units_find(const struct dwarf_units *units, u64 address);

#endif
