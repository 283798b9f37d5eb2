/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * $XDG_CACHE_HOME/bpfprof/names, or what the config says.
 */
#include "cmd/names_choice.h"

#include "base/fail.h"
#include "base/memory.h"
#include "cmd/input.h"

/* Owned by the caller; NULL: there is none. */
static char *usual_folder(void)
{
	const char *caches = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (caches && caches[0] == '/')
		return must_format("%s/bpfprof/names", caches);
	return home && home[0] == '/' ? must_format("%s/.cache/bpfprof/names", home) : NULL;
}

struct names_cache *names_choice_open(const struct names_choice *choice)
{
	CLEANUP(freep)
	char *folder = choice->directory ? must_copy(choice->directory) : usual_folder();
	struct names_cache_settings settings = {.directory = folder,
						.max_bytes = choice->max_bytes};
	struct names_cache *cache = NULL;

	if (choice->is_off || !folder || !folder[0])
		return NULL;
	if (names_cache_open(&settings, &cache) && choice->directory)
		fprintf(stderr, "bpfprof: %s\n", fail_sentence());
	fail_clear();
	return cache;
}

void names_choice_close(struct names_cache *cache, struct symbolizer *symbolizer, bool is_quiet)
{
	if (cache && symbolizer)
		symbolizer_keep(symbolizer);
	names_choice_close_kept(cache, is_quiet);
}

void names_choice_close_kept(struct names_cache *kept, bool is_quiet)
{
	if (!is_quiet)
		input_print_lines(names_cache_warnings(kept));
	names_cache_close(kept);
}
