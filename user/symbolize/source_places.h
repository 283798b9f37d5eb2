/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines and inlined functions for the locations of a profile. Private to symbolize/.
 */
#ifndef SYMBOLIZE_SOURCE_PLACES_H
#define SYMBOLIZE_SOURCE_PLACES_H

#include "symbolize/finder.h"

/* Gives the locations that have names what the settings wish of the source, each distinct address
 * once, the files one after the other and each on all CPUs. What is not known stays as it is. */
void source_places_find(const struct finder_context *context, struct profile *profile);

#endif
