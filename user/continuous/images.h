/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a process has mapped, as a log that is only added to, so that it can be asked about any time
 * of the window. Forks share it: each sees so many rows of it. Private to the folder.
 */
#ifndef CONTINUOUS_IMAGES_H
#define CONTINUOUS_IMAGES_H

#include "bpfprof/types.h"

#include <stdbool.h>
#include <stddef.h>

/* A mapped piece, [start, end). */
struct piece {
	u64 time_ns; /* since when; 0: before the recording */
	u64 start, end, file_offset;
	u32 file; /* of seen_files.h */
	u32 reserved;
};

/* Addresses, [start, end). */
struct span {
	u64 start, end;
};

struct image;

/* A process's view of an image. A zeroed one is valid: nothing is mapped. */
struct image_view {
	struct image *image;
	u32 length; /* rows of it that are its own */
	u32 compact_at;
};

/* Another view of the same. */
struct image_view image_share(struct image_view view);
/* Lets go; the last view frees. */
void image_drop(struct image_view *view);
/* Adds a piece, which covers what was there. */
void image_add(struct image_view *view, const struct piece *piece);
/* The piece that held `address` at that time, NULL if none did. Borrowed until the next change.
 * `around`, which has `address` in it, is narrowed to those for which the answer is the same. */
const struct piece *image_find(struct image_view view, u64 address, u64 time_ns,
			       struct span *around);
/* Forgets what newer pieces cover, if the log has grown much since that was done last. */
void image_compact(struct image_view *view);
/* The rows of a view, oldest first, for who renumbers their files; `view->length` of them. */
struct piece *image_pieces(struct image_view view);
/* Whether the image was given the mark before; shared ones are met several times. */
bool image_mark(struct image_view view, u32 mark);
/* How many rows all who share it have. */
u32 image_rows(struct image_view view);

#endif
