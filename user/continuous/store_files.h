/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of a store's windows: their names, and what a file tells of its window. Private to the
 * folder.
 */
#ifndef CONTINUOUS_STORE_FILES_H
#define CONTINUOUS_STORE_FILES_H

#include "base/text.h"
#include "continuous/store_rows.h"

/* In the order in which files of one moment stand. */
enum window_file_kind {
	WINDOW_DATA,
	WINDOW_OPEN, /* a window that is being written */
	WINDOW_SUMS, /* of the windows from there on */
};

/* A file below windows/ that is a window by its name, or sums. */
struct window_file {
	window_key key;
	enum window_file_kind kind;
};

typedef VEC(struct window_file) file_list;

/* Lists the windows below a folder, by key. Files of other names are passed over; of what has the
 * name of a day, but is no folder, a line is added to `notes`.
 * Returns 0 or a negative errno without a sentence; the list is released by the caller. */
int window_files_list(const char *windows, file_list *ret_files, struct text *notes);

/* Removes what writers that were killed had not given its name yet, and folders that are empty. For
 * who has the lock. Returns as window_files_list(). */
int window_files_tidy(const char *windows);

/* "WINDOWS/20261121/140500.data"; owned by the caller. */
char *window_file_path(const char *windows, window_key key, enum window_file_kind kind);
/* The folder that a window is in; owned by the caller. */
char *window_folder_path(const char *windows, window_key key);

/*
 * Reads what a file tells of its window, as far as it goes.
 *
 * ret_window  with STORE_RECOVERED, and STORE_CUT if the file ends early
 * Returns 0, or a negative errno with a sentence: nothing in it can be read.
 */
int window_file_measure(const char *path, window_key key, struct store_window *ret_window);

#endif
