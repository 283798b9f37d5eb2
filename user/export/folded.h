/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Folded stacks: a line for each, "comm;outermost;…;innermost COUNT", as flame graphs are made of.
 */
#ifndef EXPORT_FOLDED_H
#define EXPORT_FOLDED_H

#include "profile/profile.h"

#include <stdio.h>

/* Writes the stacks of one event with the number of their samples. What has no name is called by
 * its binary, "[libfoo.so]". */
void folded_write(const struct fold *fold, u32 source, FILE *out);

#endif
