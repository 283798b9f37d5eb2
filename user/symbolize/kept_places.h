/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Source lines and inlined functions of the addresses of a binary that were asked for, to be kept.
 * Pure. Private to symbolize/.
 */
#ifndef SYMBOLIZE_KEPT_PLACES_H
#define SYMBOLIZE_KEPT_PLACES_H

#include "base/idmap.h"
#include "base/intern.h"
#include "base/vec.h"
#include "binary/binary.h"
#include "symbolize/kept_file.h"

/* One frame; strings are rows of `strings`, 0: none. */
struct kept_frame {
	u32 function, file, line;
};

struct kept_place {
	u64 key;
	u32 first, count; /* in `frames`, innermost first; none: nothing is known of it */
};

struct kept_places {
	struct build_id id;
	struct intern strings;
	VEC(struct kept_place) places;
	VEC(struct kept_frame) frames;
	struct idmap index; /* key: place, plus 1 */
};

/* Frees; harmless on a zeroed struct. For CLEANUP too. */
void kept_places_release(struct kept_places *places);

/* What an address goes by: its file offset, and whether what is wanted is the call before it. */
u64 kept_places_key(u64 offset, bool is_return);
/* The place of a key, NULL if it was not asked for. Borrowed until the next kept_places_add(). */
const struct kept_place *kept_places_find(const struct kept_places *places, u64 key);
/* Keeps the frames of a key, unless it has some already. */
void kept_places_add(struct kept_places *places, u64 key, const struct source_frame *frames,
		     u32 count);

/* Adds those of another list whose keys are not there. */
void kept_places_join(struct kept_places *places, const struct kept_places *other);
/* A frame as it was added. Strings are borrowed until kept_places_release(). */
struct source_frame kept_places_frame(const struct kept_places *places, u32 row);

/* Appends the block of a file of KEPT_PLACES. */
void kept_places_put(const struct kept_places *places, struct text *block);
/* Adds what a block holds to empty `places`. kept_places_release() them, also after an error.
 * Returns 0 or -EBADMSG, without a sentence. */
int kept_places_take(struct bytes block, struct kept_places *places);

#endif
