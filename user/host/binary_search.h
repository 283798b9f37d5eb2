/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a binary that ran can still be had.
 */
#ifndef HOST_BINARY_SEARCH_H
#define HOST_BINARY_SEARCH_H

#include "binary/binary.h"

#include <stdbool.h>

/* A file that can be the one. */
struct found_binary {
	int fd;		  /* closed after it was looked at */
	const char *root; /* the folder that it was found below, "" for ours */
	const char *path; /* as recorded, without " (deleted)" */
	struct build_id id;
};

/* Of a file, as a mapping told. */
struct mapped_inode {
	u64 inode;		      /* 0: not known */
	u32 major, minor, generation; /* generation 0: not known */
};

struct binary_search {
	const char *symfs; /* look below this folder and nowhere else; NULL or "": no */
	const char *path;  /* as recorded, maybe with " (deleted)" at its end */
	const u8 *build_id;
	u8 build_id_bytes; /* 0: none was recorded */
	/* Counts if no build id was recorded: what certainly is another file is refused. */
	struct mapped_inode inode;
	const char *cache_name; /* what perf calls it in its cache of binaries: "elf" or "vdso" */
	u32 owner_pid;		/* a process that had it mapped; ~0: not known */
	bool is_open;		/* `fd` is the file: it is looked at before all others */
	int fd;			/* borrowed */
	/* Reads the build id of a file instead of build_id_of_fd(), as which it returns. NULL: that
	 * does. */
	int (*identify)(void *context, int fd, struct build_id *ret_id);
	/* Decides over what has the recorded build id, if there was one; if it refuses, the search
	 * goes on. */
	bool (*accept)(void *context, const struct found_binary *found);
	/* Hears of a file that was looked at and was not taken: -ESTALE (another build id or
	 * inode) or -EBADMSG (not ELF). NULL: nobody. */
	void (*refuse)(void *context, int error);
	void *context;
};

/*
 * Looks in this order: at what is open; below --symfs; as its process sees it, while that lives and
 * has other files than we do; at its path; the very file that a living process maps, though it was
 * deleted or replaced, or the path leads to another one here; in perf's cache of binaries. Returns
 * whether some file was accepted.
 */
bool binary_search_run(const struct binary_search *search);

#endif
