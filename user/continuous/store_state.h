/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An open store as its files share it. Private to the folder.
 */
#ifndef CONTINUOUS_STORE_STATE_H
#define CONTINUOUS_STORE_STATE_H

#include "base/text.h"
#include "continuous/store_files.h"

/* A file of sums. */
struct sums {
	u64 start_ns;
	u64 bytes; /* 0: there is none, and none is to be made */
};

struct store {
	char *directory, *windows, *index, *names; /* paths; owned */
	bool writes;
	bool has_written; /* a window, since it was opened */
	int lock_fd, index_fd;
	u64 index_rows; /* rows of the index, stale ones too */
	u64 bytes;
	entry_list entries; /* windows that are there, by start */
	window_key newest;  /* the one written last, since it was opened; 0: none */
	u64 newest_end_ns;
	VEC(struct index_row) rebuilt; /* rows that the index does not have */
	bool is_index_stale;	       /* writing: no room was there to put it right */
	VEC(struct sums) sums;	       /* writing: by start */
	struct store_limits limits;
	window_key begun;
	char *begun_path; /* owned; NULL: no window was begun */
	u64 lost_windows;
	u32 lost_before_next;
	struct text notes;
};

/* Rows of `rebuilt` are numbered from here. */
#define REBUILT_ROW (1ull << 63)

/* Appends a line to the notes. */
void store_note(struct store *store, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Lets the group for it read a store that this process owns, or nobody. Before capabilities go. */
void store_settle_access(const struct store *store);
/* Lets who may read the folder read what was in it before that was settled: once, and only what
 * this process owns. For who has the lock, and before capabilities go. What fails is noted. */
void store_share_content(struct store *store);
/* Why a store cannot be read by somebody without rights. Returns -EACCES, with a sentence. */
int store_refuse_reader(const struct store *store);

/* What a writer can be told to do about an error of a path in the store. */
const char *store_remedy(int error);
/* Makes a folder, unless something is there. Returns 0 or a negative errno with a sentence. */
int store_make_folder(const struct store *store, const char *path);
/* Makes the folder of a day, unless there is one. Returns as store_make_folder(), and -ENOTDIR if
 * something else is there. */
int store_make_day(const struct store *store, const char *path);
/* Whether something else is where a folder should be; what is not there is fine. Returns 0 or
 * -EPROTO with a sentence. */
int store_refuse_other_than_folder(const char *path);
/* The same of a file. */
int store_refuse_other_than_file(const char *path);
/* Refuses to begin a store among other files. Returns 0 or a negative errno with a sentence. */
int store_refuse_others_folder(const struct store *store);
/* Returns -EPROTO, with the sentence that something is no file. */
int store_refuse_no_file(const char *path);

/* Takes the lock, if this store writes. Returns 0 or a negative errno with a sentence (-EBUSY). */
int store_take_lock(struct store *store);
/* Whether another process writes into this store now. */
bool store_is_written(const struct store *store);

/* Whether this version can read what is there. Returns 0 or a negative errno with a sentence;
 * ret_is_there: false if there is no format, since nothing was stored yet, or the file is lost. */
int store_check_format(const struct store *store, bool *ret_is_there);
/* Says of which format the store is. Returns 0 or a negative errno with a sentence. */
int store_write_format(const struct store *store);

/* Reads the index, compares it with the files, and puts right what differs. Returns 0 or a negative
 * errno with a sentence. */
int store_load(struct store *store);
/* Writes the index anew, with a row for each entry. Returns 0 or a negative errno with a sentence;
 * the old one is there then. */
int store_rewrite_index(struct store *store);
/* The row of an entry; made of its file where the index has none of it. Returns 0 or a negative
 * errno without a sentence. */
int store_read_row(const struct store *store, const struct entry *entry, struct index_row *ret_row);
/* Puts an entry into its place. */
void store_add_entry(struct store *store, struct entry entry);

/* There are sums. They are counted. */
void store_add_sums(struct store *store, struct sums sums);
/* Removes the sums of a window that begins there, if there are any: they are to be made again. */
void store_remove_sums(struct store *store, u64 start_ns);
/* The same, but they are not: the window and those beside it are about to go. */
void store_end_sums(struct store *store, u64 start_ns);
/* Removes those of which no window is there. */
void store_remove_stale_sums(struct store *store);

/*
 * Gives the file of a window that is written its name, and makes both durable.
 * Returns 0, or a negative errno without a sentence: then nothing has that name.
 */
int store_name_file(const struct store *store, window_key key);

/* Makes what happened in a folder, or to a file, durable. Returns 0 or a negative errno without a
 * sentence. */
int store_sync(const char *path);

#endif
