/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of places, and the texts that are made of them, for all printers of a recording. Private to
 * script*.c.
 */
#ifndef CMD_SCRIPT_NAMES_H
#define CMD_SCRIPT_NAMES_H

#include "cmd/script_texts.h"
#include "symbolize/symbolize.h"

#include <pthread.h>

struct script_names {
	struct place_texts *texts;
	pthread_mutex_t mutex; /* of all that follows, where there are several printers */
	struct symbolizer *symbolizer;
	struct profile *profile;
	bool knows_sources; /* of the profile's locations */
	location_id asked;  /* else: the one that is asked about */
	VEC(bool) is_open;  /* by id of a mapped file: its names were asked for */
};

/* symbolizer  borrowed
 * known       locations that have been named before, with what is known of their sources; taken
 *             over. NULL: none
 * Free with script_names_free(). */
struct script_names *script_names_new(struct symbolizer *symbolizer, struct profile *known);
/* Frees; NULL is fine. */
void script_names_free(struct script_names *names);
/* Frees it, and gives back the profile, with all that was met. */
struct profile *script_names_take(struct script_names *names);

#endif
