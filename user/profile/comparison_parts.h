/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The steps of a comparison, private to this folder.
 */
#ifndef PROFILE_COMPARISON_PARTS_H
#define PROFILE_COMPARISON_PARTS_H

#include "profile/comparison.h"

/* Whether the frame of an entry has a symbol. */
bool comparison_is_named(const struct comparison *comparison, const struct entry *entry);
/* Whether a run is of the baseline or of `side`, and has the event. */
bool comparison_asks_run(const struct comparison *comparison, u32 run, u32 side);
/* Adds what one run or side used to a sum. */
void comparison_add(struct compared_value *sum, const struct compared_value *value);
/* The sides that have an entry, as bits; the baseline's is the lowest. (Beyond 64 sides some share
 * a bit: then more seem to have it.) */
u64 comparison_sides(const struct comparison *comparison, u32 entry);
/* What an entry's binary is called: its short name, or its path if the lists go by path. */
string_id comparison_dso(const struct comparison *comparison, u32 entry);

/* All binaries of a short name. */
struct compared_dso {
	string_id name;
	binary_id build; /* the first one seen */
	u64 sides;	 /* that have any of it, as of comparison_sides() */
	u64 period;	 /* wherever */
	u32 functions;	 /* lines with a name */
};

struct compared_dsos {
	VEC(struct compared_dso) rows;
	struct idmap row_of;   /* by name, from 1 */
	struct idmap old_name; /* of a binary that the baseline knows by another name: that one */
};

/* Lists the binaries, and finds those with another name; `ret_dsos` is zeroed.
 * compared_dsos_release() it. */
void compared_dsos_find(const struct comparison *comparison, struct compared_dsos *ret_dsos);
/* Frees the contents. */
void compared_dsos_release(struct compared_dsos *dsos);

/* Joins lines that went from one place to another: see comparison_moved.c. */
void comparison_join_moved(struct comparison *comparison);
/* Makes comparison->sorted. */
void comparison_sort(struct comparison *comparison);

#endif
