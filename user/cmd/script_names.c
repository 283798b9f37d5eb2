/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of places, and the texts that are made of them.
 */
#include "cmd/script_names.h"

#include "base/memory.h"
#include "base/parallel.h"

struct script_names *script_names_new(struct symbolizer *symbolizer, struct profile *known)
{
	struct script_names *names = must_alloc(sizeof(*names));

	parallel_mutex_init(&names->mutex);
	names->texts = place_texts_new();
	names->symbolizer = symbolizer;
	names->profile = known ? known : profile_new();
	names->knows_sources = known;
	if (!known)
		names->asked = profile_location(names->profile, 0, 0, SPACE_USER);
	return names;
}

void script_names_free(struct script_names *names)
{
	if (!names)
		return;
	pthread_mutex_destroy(&names->mutex);
	place_texts_free(names->texts);
	profile_free(names->profile);
	vec_release(&names->is_open);
	free(names);
}

struct profile *script_names_take(struct script_names *names)
{
	struct profile *profile = TAKE(names->profile);

	script_names_free(names);
	return profile;
}
