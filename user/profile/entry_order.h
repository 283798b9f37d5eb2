/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The order of entries, private to this folder.
 */
#ifndef PROFILE_ENTRY_ORDER_H
#define PROFILE_ENTRY_ORDER_H

#include "profile/entry_list.h"

/* The rows of list->entries in the order in which they are shown, owned by the caller. */
u32 *entry_order(const struct entry_list *list);
/* The same in the order of what tells them apart: keys ascending, symbols by address. */
u32 *entry_order_by_identity(const struct entry_list *list);

/* Compares what a key shows, symbols by name. Negative: `a` comes first; 0: both read the same. The
 * entries may be of other lists than this one, if these have the same fold and layout. */
int entry_compare_key(const struct entry_list *list, u8 field, const struct entry *a,
		      const struct entry *b);

/* Whether two entries of one list agree in a key, as things are told apart. */
bool entry_same_key(const struct entry_list *list, u8 field, const struct entry *a,
		    const struct entry *b);

/* Figures of an entry or of sums, and those of the group's members. */
struct entry_figures {
	const struct entry *own, *others;
};

/* Compares a figure of a group: the source's decide first, then those of the members in order.
 * Negative: `a` is shown first. */
int entry_compare_figures(const struct entry_list *list, u8 field, struct entry_figures a,
			  struct entry_figures b);

#endif
