/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A folder of names by build id: what naming needs of binaries, kept for when they have been
 * replaced or deleted, with the source lines that were asked for.
 *
 * DIRECTORY/ab/cdef….names, ….places and ….callers, one of each at most for a build id, and
 * DIRECTORY/lock.
 * Each file has a version and a checksum and is replaced as a whole, so any number of processes may
 * use the folder. One that is damaged is passed over, with one line, and written anew.
 *
 * Binaries without a build id are not kept: a file that was written over in its place looks the
 * same to who reads the recording.
 */
#ifndef SYMBOLIZE_NAMES_CACHE_H
#define SYMBOLIZE_NAMES_CACHE_H

#include "base/cursor.h"
#include "binary/binary.h"

struct names_cache;
struct confined;

struct names_cache_settings {
	const char *directory;
	u64 max_bytes; /* what was used longest ago goes first; 0: no limit */
	bool is_read_only;
	/* To read only: whose this folder is may have written the names, for who asks takes his
	 * word in all else that lies there. NULL: only we and root may. */
	const char *store;
	/* Reads binaries for names_cache_keep(), with confined_names_works. Borrowed; NULL: they
	 * are read by ourselves. */
	struct confined *confined;
};

/*
 * Opens the folder; makes it (and those above it) if it is not there and may be written. What it
 * makes in it may be read by those who may read the folder.
 *
 * Returns 0 or a negative errno with a sentence: -ENOENT (read only, and not there), -EPERM (the
 * folder, or the one that it would be made in, is another user's: of root's one, and of the store's
 * owner, may be read).
 */
int names_cache_open(const struct names_cache_settings *settings, struct names_cache **ret_cache);
/* Holds the limit, and frees; NULL is fine. */
void names_cache_close(struct names_cache *cache);
/* For CLEANUP. */
static inline void names_cache_closep(struct names_cache **cache)
{
	names_cache_close(*cache);
}

/* Lines about files that were damaged, or why nothing could be written; "" if there are none.
 * Borrowed until the next use of the cache. */
const char *names_cache_warnings(const struct names_cache *cache);
/* Why what was written last could not be, a negative errno; 0: it could, or nothing was. */
int names_cache_write_error(const struct names_cache *cache);
/* Limits what all may take on disk from now on, see names_cache_open(). */
void names_cache_limit(struct names_cache *cache, u64 max_bytes);

/* A binary as a mapping of a living process tells of it. */
struct running_binary {
	const char *path;   /* as the process sees it */
	const u8 *build_id; /* may be NULL of an open file */
	u8 build_id_bytes;
	u32 owner_pid; /* ~0: not known */
	bool is_open;  /* `fd` is its file: it need not be looked for */
	int fd;	       /* borrowed */
};

/*
 * Keeps the names of a file's functions, unless they are there; looks for the file in the places of
 * binary_search_run(), and for its debug file.
 * Returns 0, or without a sentence: -ENODATA (no build id), -ENOENT (no file with that build id),
 * or why it could not
 * be read (as confined_run()) or written.
 */
int names_cache_keep(struct names_cache *cache, const struct running_binary *binary);

/* Code of a binary of which source lines are wanted. */
struct code_places {
	/* Each is a file offset times two, and one more if what is meant is the call before it. */
	const u64 *keys;
	size_t count;
};

/*
 * Keeps the source lines and inlined functions of these places, unless they are there; the binary
 * has a build id, and is looked for as by names_cache_keep(). Only settings.confined looks at it.
 * What nothing is known of, or is not all in the file and its debug file, is not kept.
 *
 * Returns 0, or without a sentence: -ENODATA (the file has no lines), -EXDEV (of some what
 * is known is in other files: dwz, -gsplit-dwarf; the rest is kept), -EUCLEAN (some of it is
 * damaged; the rest is kept), -ENOENT (no file with that build id), or why it could not be read (as
 * confined_run()) or written.
 */
int names_cache_keep_places(struct names_cache *cache, const struct running_binary *binary,
			    const struct code_places *wanted);
/* Whether that says that the rest is kept. */
bool names_cache_rest_is_kept(int error);

/* Code that a process made, and where samples lie in it. */
struct jit_code {
	int map; /* perf_map_open() of its process; borrowed */
	struct build_id id;
	const u64 *addresses; /* ascending */
	size_t count;
};

/* Opens what a process wrote down of its JIT code, if that is to be believed. Returns a descriptor,
 * the caller's to close, or a negative errno: -EPERM (it is somebody else's), -ELOOP (a link),
 * -EINVAL (no regular file), or why there is none. */
int perf_map_open(u32 pid);
/* A build id for the names at these addresses as the map is now: it is another one when the map or
 * the addresses are. */
struct build_id jit_code_id(int map, u32 pid, const u64 *addresses, size_t count);
/* Keeps the names that the map has for the addresses, and no others, under the id. Returns 0 or,
 * without a sentence: -ENODATA (it has none), or why not. */
int names_cache_keep_jit(struct names_cache *cache, const struct jit_code *code);

/* Keeps those of the running kernel and its modules, which have a build id each. Those that are
 * there are passed over, so it may be called again when modules have been loaded. Returns 0,
 * -EACCES (kallsyms shows no addresses) or why not. */
int names_cache_keep_kernel(struct names_cache *cache);

/* Takes what is kept under a build id of who calls whom in a binary's code, as somebody gave it
 * to the next. ret_block: its start is the caller's to free. Returns 0 or -ENOENT (there is none,
 * or it is damaged: there is a warning then). Threads may ask at the same time. */
int names_cache_find_callers(struct names_cache *cache, const struct build_id *id,
			     struct bytes *ret_block);
/* Keeps it in place of what is there. `rows` says how much it is. Returns 0 or why it could not be
 * written, for which there is a warning, too; -EROFS has none. */
int names_cache_add_callers(struct names_cache *cache, const struct build_id *id, u64 rows,
			    struct bytes block);

#endif
