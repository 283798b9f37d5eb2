/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What mappings are of, each told once: files, and pieces of the kernel. Private to the folder.
 */
#ifndef CONTINUOUS_SEEN_FILES_H
#define CONTINUOUS_SEEN_FILES_H

#include "base/intern.h"
#include "base/vec.h"
#include "event/event.h"
#include "host/host.h"

/* Numbers of files begin with 1. A zeroed `struct seen_files` is a valid empty one. */
struct seen_files {
	struct intern keys;
	VEC(struct file_state) states; /* by number - 1 */
};

struct file_state {
	bool is_told;	 /* whoever keeps names has taken it */
	bool is_counted; /* for seen_files_compact() */
	bool is_jit;	 /* no file: code that a process made */
	bool is_placed;	 /* seen_files_place() says where it is told to lie */
	/* Its build id is not what is mapped any more: somebody wrote into the file. */
	bool is_overwritten;
	u8 tries;		   /* for window_identify() */
	struct file_stamp checked; /* likewise: what had the build id that it is told with */
	u32 next;		   /* its number after compaction */
};

/* The number of the file of a mapping, new or known. */
u32 seen_files_add(struct seen_files *files, const struct mapping *mapping);
/* Writes what is known of a file into a mapping; its path lives until seen_files_compact(). */
void seen_files_fill(const struct seen_files *files, u32 file, struct mapping *mapping);
/* What may be noted of it. Borrowed until the next seen_files_add(). */
struct file_state *seen_files_state(struct seen_files *files, u32 file);

/*
 * Where a piece of a file is told to lie, in whatever process and wherever that has it mapped: its
 * addresses then depend on the file and the place in it alone. So stacks of one program are alike
 * however often it was started, which saves more than half of what they take on disk and time when
 * they are read; two pieces never contradict each other; and nobody learns from a window where a
 * process has its code.
 *
 * Returns 0 if it stays where it is: code that was made at run time has no other name than its
 * address. Holds until seen_files_compact().
 */
u64 seen_files_place(const struct seen_files *files, u32 file, u64 file_offset, u64 bytes);

/* Of which file and where in it an address is that seen_files_place() led to; false: of none. */
bool seen_files_at_place(const struct seen_files *files, u64 place, u32 *ret_file,
			 u64 *ret_file_offset);

/* Marks a file as one that stays. */
void seen_files_count(struct seen_files *files, u32 file);
/* Forgets those that were not counted; those that stay get the numbers `next` of `ret_old`, which
 * the caller releases. */
void seen_files_compact(struct seen_files *files, struct seen_files *ret_old);
/* Frees; empty again. */
void seen_files_release(struct seen_files *files);

#endif
