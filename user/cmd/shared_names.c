/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A symbolizer looks at one profile after the other and names its rows. So it has a profile of its
 * own here, into which the binaries of the others are copied, and one location to be asked about.
 * Each thread keeps what it was answered, so that it waits for others once an address at most.
 */
#include "cmd/shared_names.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <pthread.h>

enum answer { NOT_ASKED, HAS_NONE, HAS_NAME };

struct shared_names {
	pthread_mutex_t mutex; /* of all that follows */
	struct symbolizer *symbolizer;
	struct profile *profile;
	location_id asked;
};

struct names_asker {
	struct shared_names *names;
	VEC(binary_id) binaries; /* of the asker's profile: row of names->profile */
	VEC(u8) answers;	 /* enum answer, by location */
};

struct shared_names *shared_names_new(struct symbolizer *symbolizer)
{
	struct shared_names *names = must_alloc(sizeof(*names));

	/* Most answers take less than to sleep and be woken. */
	parallel_mutex_init(&names->mutex);
	names->symbolizer = symbolizer;
	names->profile = profile_new();
	names->asked = profile_location(names->profile, 0, 0, SPACE_USER);
	return names;
}

void shared_names_free(struct shared_names *names)
{
	if (!names)
		return;
	pthread_mutex_destroy(&names->mutex);
	profile_free(names->profile);
	free(names);
}

struct names_asker *names_asker_new(struct shared_names *names)
{
	struct names_asker *asker = must_alloc(sizeof(*asker));

	asker->names = names;
	return asker;
}

void names_asker_free(struct names_asker *asker)
{
	if (!asker)
		return;
	vec_release(&asker->binaries);
	vec_release(&asker->answers);
	free(asker);
}

/* The row of a binary in the symbolizer's profile; those before it come with it, for how a binary
 * is named may depend on them: a module's kernel is one of them. */
static binary_id copy_binary(struct names_asker *asker, const struct profile *profile, binary_id id)
{
	struct profile *copy = asker->names->profile;

	while (asker->binaries.count <= id) {
		binary_id next = (binary_id)asker->binaries.count;
		struct binary_row row = profile->binaries.items[next];

		row.path = intern_text(&copy->strings, profile_text(profile, row.path));
		row.short_name = intern_text(&copy->strings, profile_text(profile, row.short_name));
		*vec_add(&asker->binaries) = next ? profile_binary(copy, &row) : 0;
	}
	return asker->binaries.items[id];
}

static bool ask(struct names_asker *asker, const struct profile *profile, location_id location)
{
	struct shared_names *names = asker->names;
	struct location_row row = profile->locations.items[location];
	bool has_name;

	pthread_mutex_lock(&names->mutex);
	row.binary = copy_binary(asker, profile, row.binary);
	names->profile->locations.items[names->asked] = row;
	has_name = symbolizer_has_name(names->symbolizer, names->profile, names->asked);
	pthread_mutex_unlock(&names->mutex);
	return has_name;
}

bool names_asker_ask(struct names_asker *asker, const struct profile *profile, location_id location)
{
	while (asker->answers.count <= location)
		*vec_add(&asker->answers) = NOT_ASKED;
	if (asker->answers.items[location] == NOT_ASKED)
		asker->answers.items[location] = ask(asker, profile, location) ? HAS_NAME
									       : HAS_NONE;
	return asker->answers.items[location] == HAS_NAME;
}
