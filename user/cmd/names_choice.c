/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * $XDG_CACHE_HOME/bpfprof/names, or what the config says.
 */
#include "cmd/names_choice.h"

#include "base/fail.h"
#include "base/memory.h"
#include "cmd/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* "STORE" of "STORE/windows/20261121/140500.data", cut off in place; false if it is none. */
static bool cut_to_store(char *path)
{
	enum { LEVELS = 3 };
	char *last = NULL;

	for (u32 i = 0; i < LEVELS; i++) {
		last = strrchr(path, '/');
		if (!last)
			return false;
		*last = 0;
	}
	return !strcmp(last + 1, "windows");
}

struct names_cache *names_choice_open_store(const char *store)
{
	CLEANUP(freep) char *folder = must_format("%s/names", store);
	const struct names_cache_settings settings = {
		.directory = folder, .is_read_only = true, .store = store};
	struct names_cache *cache = NULL;
	int error = names_cache_open(&settings, &cache);

	/* names come from elsewhere then; older versions kept none */
	if (error && error != -ENOENT)
		fprintf(stderr, "bpfprof: %s\n", fail_sentence());
	fail_clear();
	return cache;
}

struct names_cache *names_choice_open_beside(const char *path)
{
	CLEANUP(freep) char *store = realpath(path, NULL);

	return store && cut_to_store(store) ? names_choice_open_store(store) : NULL;
}

void names_choice_close(struct names_cache *cache, struct symbolizer *symbolizer, bool is_quiet)
{
	if (symbolizer && !is_quiet)
		input_print_lines(symbolizer_warnings(symbolizer));
	if (symbolizer)
		symbolizer_keep(symbolizer);
	names_choice_close_kept(cache, is_quiet);
}

void names_choice_close_kept(struct names_cache *kept, bool is_quiet)
{
	if (!is_quiet)
		input_print_lines(names_cache_warnings(kept));
	names_cache_close(kept);
}
