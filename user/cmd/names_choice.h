/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cache of names of who runs a command, as options and config files choose it.
 */
#ifndef CMD_NAMES_CHOICE_H
#define CMD_NAMES_CHOICE_H

#include "cmd/option_rows.h"
#include "symbolize/symbolize.h"

struct names_choice {
	const char *directory; /* NULL: where the user's caches are */
	u64 max_bytes;
	bool is_off;
};

#define NAMES_CHOICE_DEFAULTS             \
	{                                 \
		.max_bytes = 512ull << 20 \
	}

/* The rows of a table whose settings have it as `names`. */
#define NAMES_CHOICE_ROWS                                                                       \
	FLAG(0, "no-cache", names.is_off, "name nothing by the cache of names, and keep none"), \
		{.kind = OPTION_TEXT,                                                           \
		 .argument = "DIRECTORY",                                                       \
		 .offset = FIELD(names.directory),                                              \
		 .help = "config only",                                                         \
		 .hidden = true,                                                                \
		 .config = "cache.dir"},                                                        \
	{                                                                                       \
		.kind = OPTION_BYTES, .argument = "BYTES", .offset = FIELD(names.max_bytes),    \
		.help = "config only", .hidden = true, .config = "cache.size"                   \
	}

/* Opens the cache. NULL if it is off or cannot be had, which is said only of a folder that was
 * named. names_choice_close() it. */
struct names_cache *names_choice_open(const struct names_choice *choice);
/* Opens the names that a daemon has kept in a store; NULL if there are none, or if they cannot be
 * used, which is said. names_choice_close_kept() it. */
struct names_cache *names_choice_open_store(const char *store);
/* The same of the store that a recording is a window of, by where its file lies; NULL if it
 * is none. names_choice_close_kept() it. */
struct names_cache *names_choice_open_beside(const char *path);
/* Keeps what the symbolizer (NULL: none) has read, when all has been shown; says on stderr what was
 * damaged, unless `is_quiet`; and closes the cache (NULL is fine), after which the symbolizer may
 * only be freed. */
void names_choice_close(struct names_cache *cache, struct symbolizer *symbolizer, bool is_quiet);
/* The same of names that somebody else keeps, a store's: closes them, and says what was damaged. */
void names_choice_close_kept(struct names_cache *kept, bool is_quiet);

#endif
