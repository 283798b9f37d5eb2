/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which functions of a unit are at wanted addresses, and what was inlined where. Private to
 * binary/.
 */
#ifndef BINARY_DWARF_INLINES_H
#define BINARY_DWARF_INLINES_H

#include "base/cursor.h"
#include "base/vec.h"
#include "bpfprof/types.h"

#include <elfutils/libdw.h>
#include <stdbool.h>

/* In front of the ranges of a split unit of DWARF 4: libdw takes offset 0 for "the first call". */
enum { DWARF_RANGES_SHIFT = 16 };

/* Where the DIEs of a unit begin. */
struct dwarf_root {
	Dwarf_Die die;
	bool is_split; /* then its ranges are relative to `base`, which only the skeleton knows */
	u64 base;
	struct bytes lists; /* then, its .debug_rnglists */
	bool swap;	    /* which is of the other byte order */
};

/* A function that has code, or a copy of it that was inlined. */
struct dwarf_function {
	Dwarf_Die die;
	u32 caller; /* the row it was inlined into; 0: it was not */
};

struct dwarf_inlines {
	VEC(struct dwarf_function) rows; /* the first is "none" */
	u32 *innermost;			 /* the row of each wanted address */
	bool is_damaged;		 /* not all could be gone through */
};

/*
 * Goes through the DIEs of a unit, but not into functions that have none of the addresses. Work is
 * bounded by the unit's size, whatever its references say.
 *
 * addresses     ascending, may be equal
 * ret_inlines   dwarf_inlines_release() it; good as long as the handle of `root`
 */
void dwarf_inlines_read(struct dwarf_root *root, const u64 *addresses, u32 count,
			struct dwarf_inlines *ret_inlines);
/* Frees; harmless on a zeroed struct. */
void dwarf_inlines_release(struct dwarf_inlines *inlines);

/* The name of a function for the linker, or that in the source; through the DIEs that it is a copy
 * of, in other units too. NULL if it has none. Borrowed from the sections. */
const char *dwarf_function_name(Dwarf_Die *die);

#endif
