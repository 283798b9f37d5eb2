/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The queue of what names, and source lines, are wanted of. Private to this folder.
 */
#ifndef CMD_WANTED_NAMES_H
#define CMD_WANTED_NAMES_H

#include "base/vec.h"
#include "event/event.h"
#include "symbolize/symbolize.h"

enum wanted_kind { WANT_NAMES, WANT_JIT_NAMES, WANT_LINES };

/* A binary, by its build id or as an open file. */
struct wanted {
	u8 kind; /* enum wanted_kind */
	u32 id;	 /* its number with who wants it; 0: it has none */
	u32 pid;
	int fd; /* owned; -1: not open */
	u8 build_id_bytes;
	u8 build_id[BUILD_ID_MAX_BYTES];
	char *path;
	/* Of code that a process made, whose map is `fd`: where samples lie in it. Of lines: the
	 * places that they are wanted of. Owned. */
	u64 *addresses;
	size_t address_count;
};

/* Frees. */
void wanted_release(struct wanted *wanted);

/* Zeroed it is a valid empty one. */
struct wanted_queue {
	VEC(struct wanted) items;
	u32 open_files; /* in it */
};

/* Adds one, which the queue owns then. */
void wanted_queue_add(struct wanted_queue *queue, const struct wanted *wanted);
/* A binary, not open, as a mapping tells of it; the caller owns it. */
struct wanted wanted_of(u8 kind, u32 id, const struct mapping *binary);
/* Takes the next out of a queue that is not empty; the caller owns it. Lines come last: their files
 * take longer to be read, and names must not be gone by then. */
struct wanted wanted_queue_take(struct wanted_queue *queue);
/* Frees it with what is in it; harmless on a zeroed struct. */
void wanted_queue_release(struct wanted_queue *queue);

/* Keeps it in a cache. Returns 0 or a negative errno as the functions of names_cache.h. */
int wanted_keep(const struct wanted *wanted, struct names_cache *cache);

#endif
