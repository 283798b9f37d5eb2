/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * As what the addresses of a profile were met: it decides over their names.
 */
#ifndef PROFILE_LOCATION_USES_H
#define PROFILE_LOCATION_USES_H

#include "profile/tables.h"

/* Bits. A return address, seen as such, is neither. */
enum location_use {
	LOCATION_IS_CALL = 1,  /* a CALL that branch records told of */
	LOCATION_IS_PLACE = 2, /* what was executed, or nobody knows what */
};

/* Notes of all stacks and counts what they say of their locations' `uses`. What was noted before
 * holds on. */
void location_uses_note(struct profile *profile);

#endif
