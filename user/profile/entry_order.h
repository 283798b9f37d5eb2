/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The order of entries, private to this folder.
 */
#ifndef PROFILE_ENTRY_ORDER_H
#define PROFILE_ENTRY_ORDER_H

#include "profile/entry_list.h"

/* The rows of list->entries in the order in which they are shown, owned by the caller. */
u32 *entry_order(const struct entry_list *list);

#endif
