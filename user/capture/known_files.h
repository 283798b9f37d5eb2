/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the BPF programs have been told of files: the map `unwind_files`, and our own copy of it.
 */
#ifndef CAPTURE_KNOWN_FILES_H
#define CAPTURE_KNOWN_FILES_H

#include "capture/table_store.h"

struct known_file {
	struct unwind_file_key key;
	table_id table; /* if FILE_READY */
	u8 state;	/* enum unwind_file_state */
	u8 failures;	/* times that it was gone before it was read */
	u64 due_ns;	/* if it was gone: when it may be asked for again; else 0 */
};

struct known_files;

/* Nothing is known. The maps and the store must outlive the files. */
struct known_files *known_files_new(const struct unwind_maps *maps, struct table_store *store);
/* Frees; NULL is fine. */
void known_files_free(struct known_files *files);

/* What is known of a file; a new one is FILE_WANTED. Borrowed until the next call of any of these.
 */
struct known_file *known_files_row(struct known_files *files, const struct unwind_file_key *key);
/* Whether something is known of it. */
bool known_files_has(const struct known_files *files, const struct unwind_file_key *key);

struct file_answer {
	enum unwind_file_state state;
	table_id table; /* if FILE_READY; its reference is taken over */
	u64 now_ns;
};

/* Tells the programs how it is with a file that is FILE_WANTED. */
void known_files_answer(struct known_files *files, const struct unwind_file_key *key,
			const struct file_answer *answer);
/* The file could not be found: it may be asked for again, the later the more often this was so. */
void known_files_gone(struct known_files *files, const struct unwind_file_key *key, u64 now_ns);

/* To be called a few times a second. Lets the programs know what has changed; forgets what is due,
 * and what nobody used for some seconds where there is no room; then what had found none may be
 * asked for again. */
void known_files_tend(struct known_files *files, u64 now_ns);

/* How many are known. */
u64 known_files_count(const struct known_files *files);
/* How many were evicted so far. */
u64 known_files_evicted(const struct known_files *files);

#endif
