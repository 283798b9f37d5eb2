/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Words of lists against the path of a cgroup, and what it says of container and unit.
 */
#include "cmd/cgroup_choice.h"

#include "host/host.h"

#include <string.h>

/* A word of a list; not terminated. */
struct word {
	const char *start;
	size_t length;
};

typedef bool fits_word(struct word word, const char *text);

/* Whether one of the words fits; no list lets everything pass. */
static bool one_fits(const char *list, const char *text, fits_word *fits)
{
	const char *at = list;

	while (at && *at) {
		struct word word = {at, strcspn(at, ",")};

		if (word.length && fits(word, text))
			return true;
		at += word.length + (at[word.length] == ',');
	}
	return !list;
}

static bool begins_with(struct word word, const char *text)
{
	return !strncmp(text, word.start, word.length);
}

/* The cgroup itself or one above; slashes at the ends do not matter. */
static bool fits_path(struct word word, const char *path)
{
	while (word.length && word.start[word.length - 1] == '/')
		word.length--;
	if (word.length && *word.start == '/') {
		word.start++;
		word.length--;
	}
	path += *path == '/';
	return !word.length ||
	       (begins_with(word, path) && (path[word.length] == '/' || !path[word.length]));
}

/* As with systemctl, a name without its kind is a service. */
static bool fits_unit(struct word word, const char *unit)
{
	return begins_with(word, unit) &&
	       (!unit[word.length] || !strcmp(unit + word.length, ".service"));
}

bool cgroup_choice_is_made(const struct cgroup_choice *choice)
{
	return choice->paths || choice->containers || choice->units;
}

bool cgroup_choice_takes(const void *chosen, const char *path)
{
	const struct cgroup_choice *choice = chosen;
	struct cgroup_identity identity;

	if (!one_fits(choice->paths, path, fits_path))
		return false;
	if (!choice->containers && !choice->units)
		return true;
	identity = cgroup_identify(path);
	return one_fits(choice->containers, identity.container, begins_with) &&
	       one_fits(choice->units, identity.unit, fits_unit);
}
