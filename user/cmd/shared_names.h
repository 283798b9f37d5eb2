/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One symbolizer, asked by several threads whether addresses of their own profiles have names.
 */
#ifndef CMD_SHARED_NAMES_H
#define CMD_SHARED_NAMES_H

#include "symbolize/symbolize.h"

struct shared_names;
struct names_asker;

/* Nobody else may use the symbolizer (borrowed) until shared_names_free(). */
struct shared_names *shared_names_new(struct symbolizer *symbolizer);
/* After the askers are gone. NULL is fine. */
void shared_names_free(struct shared_names *names);

/* For one thread at a time, and one profile. */
struct names_asker *names_asker_new(struct shared_names *names);
/* NULL is fine. */
void names_asker_free(struct names_asker *asker);
/* Whether the location has a name; the profile stays as it is. */
bool names_asker_ask(struct names_asker *asker, const struct profile *profile,
		     location_id location);

#endif
