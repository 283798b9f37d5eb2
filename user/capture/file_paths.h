/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Under which paths files were mapped lately, and with which build ids: the way to a file whose
 * last process has ended. Pure.
 */
#ifndef CAPTURE_FILE_PATHS_H
#define CAPTURE_FILE_PATHS_H

#include "base/idmap.h"
#include "event/event.h"

enum { FILE_PATHS_MAX = 4096 };

struct file_path {
	u64 key; /* of the map; 0: the row is unused */
	char *path;
	u64 generation; /* of the inode */
	u8 build_id_bytes;
	u8 build_id[BUILD_ID_MAX_BYTES];
};

/* Zeroed memory is a valid empty one. */
struct file_paths {
	struct idmap rows; /* → row + 1 */
	struct file_path paths[FILE_PATHS_MAX];
	u32 next; /* the row that is given up next */
};

/* Frees the memory; empty again. */
void file_paths_release(struct file_paths *paths);

/* Remembers an executable mapping of a file: by device and inode, or, where the kernel told a build
 * id instead, by process and place. The oldest is forgotten when there are FILE_PATHS_MAX. */
void file_paths_note(struct file_paths *paths, const struct mapping *mapping);

/* Gives this mapping (device, inode and its generation, pid and start are looked at) the path of
 * its file, "" if it is not known, and the build id if that is known. A guess, to be checked. The
 * path is borrowed until the next file_paths_note(). */
void file_paths_tell(const struct file_paths *paths, struct mapping *mapping);

#endif
