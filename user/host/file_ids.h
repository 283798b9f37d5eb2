/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The build ids of mapped files, each file read once: one cache for the start-up scan and for the
 * mappings that follow.
 */
#ifndef HOST_FILE_IDS_H
#define HOST_FILE_IDS_H

#include "binary/binary.h"
#include "event/event.h"

struct file_ids;

/* Who reads the build id of an open file, and returns as build_id_of_fd(), or -EOWNERDEAD or -ETIME
 * as confined_run(). A zeroed one: this process. */
struct id_reader {
	int (*read)(void *context, int fd, struct build_id *ret_id);
	void *context;
};

/* Asks it. Returns as its read(). */
int id_reader_ask(const struct id_reader *reader, int fd, struct build_id *ret_id);

/* An empty cache; file_ids_free() it. */
struct file_ids *file_ids_new(struct id_reader reader);
/* NULL is fine. */
void file_ids_free(struct file_ids *ids);

/*
 * Writes the build id of the mapped file into a mapping that has an inode and no build id yet;
 * others, and those of files that are not ELF, have none or cannot be found, are left as they are.
 *
 * A file is known by device, inode and generation. It is looked at again when the last look is a
 * second before the mapping's time: a file may be overwritten in place. A mapping from before that
 * has the id of before.
 *
 * folder  of the process in /proc, open; -1: it is looked up by the mapping's pid, and may have
 *         ended
 */
void file_ids_fill(struct file_ids *ids, int folder, struct mapping *mapping);

/* What is filled from now on may be told late, but not later than that, CLOCK_MONOTONIC: a look at
 * a file holds for all mappings from before it. */
void file_ids_tell_time(struct file_ids *ids, u64 now_ns);
/* Whether the file of the mapping that was filled last is under its path, in our eyes: whoever
 * looks when its process is over will find it. */
bool file_ids_found_in_place(const struct file_ids *ids);

struct file_ids_counts {
	u64 looked; /* times that a file was looked for */
	u64 read;   /* times that one was read */
	u64 died;   /* … which ended the process that did … */
	u64 slow;   /* … or took it too long */
};

/* So far. */
struct file_ids_counts file_ids_counts(const struct file_ids *ids);

#endif
