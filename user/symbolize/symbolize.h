/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names for locations: each distinct one once, after counting, or when somebody asks.
 */
#ifndef SYMBOLIZE_SYMBOLIZE_H
#define SYMBOLIZE_SYMBOLIZE_H

#include "profile/profile.h"
#include "symbolize/confined_names.h"
#include "symbolize/names_cache.h"

/* What of the source is looked for, for each address. */
enum source_wish {
	SOURCE_NONE,
	SOURCE_LINES,	/* its line, of inlined functions the innermost one's */
	SOURCE_INLINED, /* the functions that are inlined there, too */
};

/* Rows of symbolize_settings.caches. */
enum {
	CACHE_OF_STORE, /* of the windows that are shown; nothing else tells of code that was made
			 */
	NAMES_CACHES_MAX = 2,
};

struct symbolize_settings {
	const char *symfs;    /* look for files below this folder; NULL: none */
	const char *kallsyms; /* another kallsyms file; NULL: /proc/kallsyms if the build id fits */
	const char *vmlinux;  /* a kernel image with symbols; NULL: looked for by build id */
	/* It was recorded on another host: inodes tell nothing of files here. */
	bool is_from_elsewhere;
	bool raw_names;	   /* do not demangle */
	bool skip_kernel;  /* leave kernel addresses as they are */
	bool only_symbols; /* what no symbol covers stays an address, as in perf */
	/* Where names of what is gone are looked for, in this order; what is found elsewhere is
	 * kept in the last one, see symbolizer_keep(). NULL: none. Not used with symfs. Borrowed.
	 */
	struct names_cache *caches[NAMES_CACHES_MAX];
	/* Open no file of what was sampled: names are those of the caches. */
	bool only_kept;
	u8 source; /* enum source_wish: what symbolizer_run() looks for */
	/* Callers are where they go on, as in perf; else at the call, which may be another line,
	 * and in another inlined function. */
	bool returns_are_exact;
	/* Hears how far symbolizer_run() has come, in addresses; NULL: nobody. */
	void (*on_progress)(const char *what, u64 done, u64 total);
	/* Hears of a file before its symbols are read, if that may take a while; NULL: nobody. */
	void (*on_large_file)(const char *path);
};

struct symbolizer;

/* Opens nothing yet. The settings are copied (their strings borrowed). */
struct symbolizer *symbolizer_new(const struct symbolize_settings *settings);
/* Frees; NULL is fine. */
void symbolizer_free(struct symbolizer *symbolizer);
/* Names of the running kernel will probably be wanted: begins to read them beside the caller's
 * work. */
void symbolizer_expect_kernel(struct symbolizer *symbolizer);
/* For CLEANUP. */
void symbolizer_freep(struct symbolizer **symbolizer);

/* Keeps the names that were read from files, and of the kernel, in the last of the caches, unless
 * they are there. Takes a while if many are new: show first what was asked for. */
void symbolizer_keep(struct symbolizer *symbolizer);

/* What was found damaged, a line each; "" if nothing was. Borrowed until it is asked for more. */
const char *symbolizer_warnings(const struct symbolizer *symbolizer);

/* How many debug files would help that are not here, but may be fetched from a server that
 * DEBUGINFOD_URLS names. */
size_t symbolizer_missing(const struct symbolizer *symbolizer);
/* Starts fetching them, and returns at once. Returns as debug_server_fetch(). */
int symbolizer_fetch_missing(const struct symbolizer *symbolizer);

/* Names every location that has no name yet, and sets `unnamed` of locations and binaries where it
 * cannot. What can't be had is not an error: it is counted there. */
void symbolizer_run(struct symbolizer *symbolizer, struct profile *profile);
/* The same where the uses of all locations were noted (profile/location_uses.h). Stacks, and what
 * was counted at them, may be added meanwhile, if no places in the source are looked for. */
void symbolizer_run_noted(struct symbolizer *symbolizer, struct profile *profile);

/* Names one location, if it has not been tried yet: for printers that cannot wait for the end.
 * Tables are loaded on first use and kept. */
void symbolizer_name(struct symbolizer *symbolizer, struct profile *profile, location_id location);
/* The same, and says whether the location has a name now. */
bool symbolizer_has_name(struct symbolizer *symbolizer, struct profile *profile,
			 location_id location);

#endif
