/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a mapping to its file.
 */
#ifndef HOST_MAPPED_FILE_H
#define HOST_MAPPED_FILE_H

#include "host/file_ids.h"

#include <sys/stat.h>

/* How sure it must be that a file is the one of the mapping, where the process still has a mapping
 * of that place. */
enum mapped_match {
	MATCH_INODE,
	/* Also where inodes cannot be compared, as overlayfs tells stat() other numbers than it
	 * gives to mappings, and a mapping that is told without an inode. */
	MATCH_PLACE,
};

/*
 * Opens the file of a mapping, though the process may have ended, and the file been replaced.
 *
 * folder      of the process in /proc, open; -1: it is looked up by the mapping's pid
 * mapping     its path may be "": then only the mapping itself can lead to the file
 * ret_status  of the file
 * Returns a descriptor, the caller's to close, or a negative errno (-ESTALE: the file that is there
 * now is another one).
 */
int mapped_file_open(int folder, const struct mapping *mapping, enum mapped_match match,
		     struct stat *ret_status);

/* A file that was read, as stat() told of it; zeroed: none was. */
struct file_stamp {
	u64 inode;
	u64 changed_ns; /* CLOCK_REALTIME */
};

/* Whether the file that a process has mapped there has another build id now than the mapping had:
 * somebody wrote into it. It is not read if it is as `checked` says, which is when it was found to
 * be what the mapping said. Returns 1, 0, or a negative errno if that mapping is not there any
 * more.
 */
int mapped_file_is_overwritten(const struct mapping *mapping, struct id_reader reader,
			       struct file_stamp *checked);

/* The generation of an open file's inode. Returns 0 or a negative errno: many file systems do not
 * tell. */
int mapped_file_generation(int fd, u32 *ret_generation);

#endif
