/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What else samples are told apart by, as perf writes it. Private to this folder.
 */
#ifndef EXPORT_DETAIL_TEXT_H
#define EXPORT_DETAIL_TEXT_H

#include "base/text.h"
#include "profile/profile.h"

/* Appends what an entry says of a key of details (entry_field_detail()) or FIELD_SYMBOL_SIZE,
 * without padding; times with nine digits behind the point if `has_nanoseconds`, else with six. */
void detail_append(struct text *text, const struct entry_list *list, const struct entry *entry,
		   u8 field, bool has_nanoseconds);

#endif
