/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Conditions on the lines of a comparison, for scripts: "delta>2%,p<0.01".
 *
 * Conditions are joined by commas, all must hold: delta, abs, ratio, p with < <= > >= and a number;
 * new, vanished; sym=NAME, dso=NAME (to the next comma; with a backslash before it a comma is part
 * of the name).
 */
#ifndef PROFILE_CONDITIONS_H
#define PROFILE_CONDITIONS_H

#include "profile/changes.h"

struct conditions;

/*
 * Parses an expression.
 *
 * ret_conditions  conditions_free() it; untouched on failure
 * Returns 0, or -EINVAL with a sentence that names the place.
 */
int conditions_parse(const char *expression, struct conditions **ret_conditions);
/* Frees; NULL is fine. */
void conditions_free(struct conditions *conditions);

/* Whether all hold for an entry on a side, not 0, whose event is there. delta and abs are points, p
 * is the one that the number of lines is allowed for in; ratio is of periods. */
bool conditions_hold(const struct conditions *conditions, const struct changes *changes, u32 entry,
		     u32 side);

#endif
