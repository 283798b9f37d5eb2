/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a walk over recorded stacks asks of the code in a process: which file's it is, that file's
 * unwind table, and its bytes. Each file is looked for and read once.
 */
#ifndef UNWIND_CODE_FILES_H
#define UNWIND_CODE_FILES_H

#include "event/event.h"
#include "unwind/copied_walk.h"

struct code_files;

/* Where files are looked for, and what decides whether they are those that ran. */
struct code_files_settings {
	u8 machine;	   /* enum unwind_machine: files of another one are not those that ran */
	const char *symfs; /* look below this folder only; NULL: none. Borrowed */
	u64 recorded_until_ns; /* wall clock; what was modified later and has no build id to tell
				* is another file; 0: unknown */
	bool has_our_vdso;     /* it was recorded under the kernel that runs */
};

/* Nothing is known of processes yet. Free with code_files_free(). */
struct code_files *code_files_new(const struct code_files_settings *settings);
/* Frees; NULL is fine. */
void code_files_free(struct code_files *files);

/* To be fed with everything about processes: what is mapped where. Lives as long as the files. */
struct event_sink *code_files_sink(struct code_files *files);

/* For walks up stacks of a process as it is now. Borrowed until the next event or the next call. */
struct copied_walk_world code_files_world(struct code_files *files, u32 pid);

#endif
