/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What stands below a diff about chance.
 */
#ifndef EXPORT_DIFF_CHANCE_H
#define EXPORT_DIFF_CHANCE_H

#include "profile/profile.h"

#include <stdio.h>

/* Comment lines: how many lines changed beyond chance, of how many and by what test, and what would
 * have been found. One such block for each side but the baseline. */
void diff_write_chance(const struct changes *changes, FILE *out);

#endif
