/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of a cache of names. Private to symbolize/.
 */
#ifndef SYMBOLIZE_NAMES_CACHE_FILES_H
#define SYMBOLIZE_NAMES_CACHE_FILES_H

#include "symbolize/kept_names.h"
#include "symbolize/kept_places.h"
#include "symbolize/names_cache.h"

#include <sys/types.h>

/* Who reads binaries for it; NULL: nobody but us. */
struct confined *names_cache_confined(const struct names_cache *cache);
/* Reads the names that are kept under a build id. kept_names_release() them. Returns 0 or -ENOENT
 * (there are none, or they are damaged: there is a warning then). NULL for a cache has none. */
int names_cache_find(struct names_cache *cache, const struct build_id *id,
		     struct kept_names *ret_names);
/* Keeps names under their build id, unless there are as many rows of them. Returns 0 or why it
 * could not be written, for which there is a warning, too. */
int names_cache_add(struct names_cache *cache, const struct kept_names *names);
/* Whether names are kept under a build id, and whole; as used now, so that they stay. */
bool names_cache_has(struct names_cache *cache, const struct build_id *id);
/* How many rows, if it has been asked whether they are kept. */
u64 names_cache_rows(const struct names_cache *cache, const struct build_id *id);

/* Reads the places that are kept under a build id into empty ones; what is not there adds none. */
void names_cache_places(struct names_cache *cache, const struct build_id *id,
			struct kept_places *places);
/* Keeps places under their build id, with those that are kept by now; unless another process adds
 * some for five seconds, for it may never end and they can be looked up again. Returns 0, -EBUSY
 * (that), -EROFS or why they could not be written, for which there is a warning, too. */
int names_cache_add_places(struct names_cache *cache, const struct kept_places *places);

/* Deletes what was used longest ago until all takes at most `max_bytes`, and what writers left
 * behind that were killed. `folder` is the cache's, open. */
void names_cache_trim(int folder, u64 max_bytes);

/* Makes the folder of a cache and those above it. `path` is changed meanwhile. Returns 0 or a
 * negative errno without a sentence: -EPERM (in another user's). */
int names_folder_make(char *path);
/* Whose a folder is; we, if that is not to be found out. */
uid_t names_folder_owner(const char *path);
/* Why a cache cannot be opened. Returns `error`, with a sentence. */
int names_folder_refuse(const char *path, bool is_read_only, int error);

#endif
