/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where blocks of code are, as text. Private to this folder.
 */
#ifndef EXPORT_BLOCK_TEXT_H
#define EXPORT_BLOCK_TEXT_H

#include "base/text.h"
#include "profile/profile.h"

/* Appends where a location is in the source. Returns whether it is known. */
bool block_append_source(struct text *text, const struct profile *profile, location_id location);
/* Appends "[list.c:12 -> list.c:14]", or how far the ends are in the function. */
void block_append_range(struct text *text, const struct profile *profile,
			const struct code_block *block);

#endif
