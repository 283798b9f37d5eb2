/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Entries by what is shown, as perf's tree has them. Private to this folder.
 */
#ifndef PROFILE_ENTRY_TREE_H
#define PROFILE_ENTRY_TREE_H

#include "profile/entry_ranks.h"

/* Puts the rows of list->entries, which stand in the order of what tells them apart, into the order
 * in which they are shown. */
void entry_tree_sort(const struct entry_list *list, const struct entry_ranks *ranks, u32 *order);

#endif
