/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The index against the files: what only one of them knows is put right.
 *
 * A window without a row is opened and tells what it can. A row without a window goes; if it is
 * older than all windows, it is one that the limits removed, and not worth a word. A writer keeps
 * what it put right; a reader does it for itself.
 */
#include "continuous/store_state.h"

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* Windows that the index does not know, and what their files tell. */
struct unknown {
	window_key key;
	bool is_open;
	bool is_readable;
	struct store_window window;
};

struct loading {
	struct store *store;
	struct index_state state;
	VEC(struct unknown) unknown;
	u64 gone; /* rows of windows that somebody removed */
};

/* --- files that no row tells of --- */

/* What a file tells of its window. Of one that cannot be read only its begin is known; then it
 * returns false. */
static bool measure_file(const struct store *store, window_key key, enum window_file_kind kind,
			 struct store_window *ret_window)
{
	CLEANUP(freep) char *path = window_file_path(store->windows, key, kind);
	struct stat status;

	if (!window_file_measure(path, key, ret_window))
		return true;
	*ret_window = (struct store_window){.start_ns = window_key_start(key),
					    .end_ns = window_key_start(key),
					    .flags = STORE_RECOVERED | STORE_CUT};
	if (!stat(path, &status))
		ret_window->bytes = (u64)status.st_size;
	return false;
}

static void measure_one(void *context, size_t index)
{
	struct loading *loading = context;
	struct unknown *unknown = &loading->unknown.items[index];

	unknown->is_readable = measure_file(loading->store, unknown->key,
					    unknown->is_open ? WINDOW_OPEN : WINDOW_DATA,
					    &unknown->window);
}

static void add_unknown(struct store *store, const struct unknown *unknown)
{
	struct index_row row = index_row_of(unknown->key, &unknown->window);

	store_add_entry(store, (struct entry){.key = row.key,
					      .start_ns = row.start_ns,
					      .end_ns = row.end_ns,
					      .bytes = row.bytes,
					      .row = REBUILT_ROW + store->rebuilt.count});
	*vec_add(&store->rebuilt) = row;
}

/* What a killed writer was writing: kept if there is anything in it. */
static void salvage(struct store *store, struct unknown *unknown)
{
	CLEANUP(freep)
	char *open_path = window_file_path(store->windows, unknown->key, WINDOW_OPEN);
	CLEANUP(freep) char *path = window_file_path(store->windows, unknown->key, WINDOW_DATA);

	unknown->window.flags |= STORE_CUT;
	/* One that another user wrote stays readable for whom it was. */
	(void)!chmod(open_path, store_file_mode(store->directory));
	if (unknown->is_readable && unknown->window.samples &&
	    !store_name_file(store, unknown->key)) {
		store_note(store, "kept %llu samples of a window whose writer was killed: %s",
			   (unsigned long long)unknown->window.samples, path);
		add_unknown(store, unknown);
		return;
	}
	unlink(open_path);
	store->lost_windows++;
	store->lost_before_next++;
	store_note(store, "a window was lost, its writer was killed: %s", path);
}

static void take_unknown(struct loading *loading, bool is_written)
{
	struct store *store = loading->store;
	u64 found = 0;

	parallel_run(loading->unknown.count, measure_one, loading);
	for (size_t i = 0; i < loading->unknown.count; i++) {
		struct unknown *unknown = &loading->unknown.items[i];
		CLEANUP(freep) char *path = NULL;

		if (unknown->is_open) {
			salvage(store, unknown);
			continue;
		}
		add_unknown(store, unknown);
		found++;
		if (unknown->is_readable)
			continue;
		path = window_file_path(store->windows, unknown->key, WINDOW_DATA);
		store_note(store, "%s cannot be read", path);
	}
	if (found && !is_written)
		store_note(store, "the index did not know %llu windows; their files tell of them",
			   (unsigned long long)found);
}

/* --- the two lists, side by side --- */

/* A reader asks for sums by their time. */
static void keep_sums(struct store *store, window_key key)
{
	u64 start_ns = window_key_start(key);
	CLEANUP(freep) char *path = store_sums_path(store->directory, start_ns);
	struct stat status;

	if (store->writes && !stat(path, &status))
		store_add_sums(store, (struct sums){start_ns, (u64)status.st_size});
}

static void keep_known(struct loading *loading, const entry_list *rows, const file_list *files)
{
	struct store *store = loading->store;
	size_t row = 0;

	for (size_t i = 0; i < files->count; i++) {
		const struct window_file *file = &files->items[i];

		bool is_open = file->kind == WINDOW_OPEN;

		if (file->kind == WINDOW_SUMS)
			keep_sums(store, file->key);
		if (file->kind == WINDOW_SUMS || (is_open && !store->writes))
			continue;
		for (; row < rows->count && rows->items[row].key < file->key; row++)
			loading->gone += files->items[0].key < rows->items[row].key;
		if (row < rows->count && rows->items[row].key == file->key && !is_open)
			store_add_entry(store, rows->items[row++]);
		else
			*vec_add(&loading->unknown) = (struct unknown){.key = file->key,
								       .is_open = is_open};
	}
	loading->gone += files->count ? rows->count - row : 0;
}

static void tell_index(struct loading *loading)
{
	struct store *store = loading->store;

	if (loading->state.is_torn)
		store_note(store, "the last row of %s is cut", store->index);
	if (loading->state.damaged)
		store_note(store, "%llu rows of %s are damaged",
			   (unsigned long long)loading->state.damaged, store->index);
	if (loading->gone)
		store_note(store, "%llu windows have been removed by hand",
			   (unsigned long long)loading->gone);
}

/* --- the index --- */

/* Reads the rows; a missing index has none. */
static int read_rows(struct loading *loading, entry_list *ret_rows)
{
	enum { LARGEST = 1 << 30 };
	struct store *store = loading->store;
	CLEANUP(freep) char *text = NULL;
	struct bytes index = {0};
	int error = -ENOENT;

	if (store->index_fd >= 0)
		error = file_read(store->index, LARGEST, &text, &index.length);
	if (error == -EFBIG)
		return 0; /* not ours: all windows are unknown then */
	if (error && error != -ENOENT)
		return fail(error, NULL, "cannot read %s", store->index);
	index.start = (const u8 *)text;
	if (!error)
		loading->state = index_read(index, ret_rows);
	store->index_rows = loading->state.rows;
	return 0;
}

/* What stands in the place of the index costs a reader what the index saves. */
static int pass_over_index(struct store *store)
{
	closep(&store->index_fd);
	store->index_fd = -1;
	if (store->writes)
		return store_refuse_no_file(store->index);
	store_note(store, "%s is no file", store->index);
	return 0;
}

static int open_index(struct store *store)
{
	int flags = store->writes ? O_RDWR | O_CREAT | O_NOFOLLOW : O_RDONLY;
	struct stat status;

	store->index_fd = open(store->index, flags | O_CLOEXEC | O_NONBLOCK,
			       store_file_mode(store->directory));
	if (store->index_fd < 0 && (errno == EISDIR || errno == ELOOP))
		return pass_over_index(store);
	if (store->index_fd < 0 && (store->writes || errno != ENOENT))
		return fail(-errno, NULL, "cannot open %s", store->index);
	if (store->index_fd >= 0 && !fstat(store->index_fd, &status) && !S_ISREG(status.st_mode))
		return pass_over_index(store);
	return 0;
}

/*
 * Puts the index right. A full disk is no reason not to start: to keep the limits may be what makes
 * room. Rows that the index lacks are in memory till then, and it gets those of new windows.
 */
static int repair_index(struct store *store)
{
	int error = store_rewrite_index(store);

	if (error != -ENOSPC && error != -EDQUOT)
		return error;
	store_note(store, "%s; it is tried again with each window", fail_sentence());
	fail_clear();
	store->is_index_stale = true;
	/* What is behind the whole rows is a row that was being written; this takes no room. */
	if (ftruncate(store->index_fd, (off_t)(store->index_rows * sizeof(struct index_row))))
		return fail(-errno, NULL, "cannot cut %s", store->index);
	return 0;
}

static int load(struct loading *loading, entry_list *rows, file_list *files)
{
	struct store *store = loading->store;
	bool is_written = !store->writes && store_is_written(store);
	int error = open_index(store);

	if (!error && store->writes)
		error = window_files_tidy(store->windows);
	/* The files first for a reader: a window that comes meanwhile is none too many then. */
	if (!error)
		error = window_files_list(store->windows, files, &store->notes);
	if (error)
		return fail_while(error, "reading %s", store->windows);
	error = read_rows(loading, rows);
	if (error)
		return error;
	keep_known(loading, rows, files);
	if (!is_written)
		tell_index(loading);
	take_unknown(loading, is_written);
	store_remove_stale_sums(store);
	if (!store->writes || (!loading->state.is_torn && !loading->state.damaged &&
			       !store->rebuilt.count && !loading->gone))
		return 0;
	return repair_index(store);
}

int store_load(struct store *store)
{
	struct loading loading = {.store = store};
	entry_list rows = {0};
	file_list files = {0};
	int error = load(&loading, &rows, &files);

	vec_release(&rows);
	vec_release(&files);
	vec_release(&loading.unknown);
	return error;
}

int store_read_row(const struct store *store, const struct entry *entry, struct index_row *ret_row)
{
	struct store_window window;
	int error;

	if (entry->row >= REBUILT_ROW) {
		*ret_row = store->rebuilt.items[entry->row - REBUILT_ROW];
		return 0;
	}
	error = index_read_row(store->index_fd, entry->row, ret_row);
	if (error && error != -EBADMSG)
		return error;
	if (!error && ret_row->key == entry->key)
		return 0;
	/* The row is damaged by now; or a writer made the index anew while this reader opened it,
	 * so that it has the numbers of one and the rows of the other. The file knows. */
	measure_file(store, entry->key, WINDOW_DATA, &window);
	*ret_row = index_row_of(entry->key, &window);
	return 0;
}

static int write_rows(struct store *store, int fd)
{
	VEC(struct index_row) rows = {0};
	int error = 0;

	for (size_t i = 0; !error && i < store->entries.count; i++)
		error = store_read_row(store, &store->entries.items[i], vec_add(&rows));
	if (!error && rows.count)
		error = file_write_all(fd, rows.items, rows.count * sizeof(*rows.items));
	if (!error && fsync(fd))
		error = -errno;
	vec_release(&rows);
	return error;
}

int store_rewrite_index(struct store *store)
{
	CLEANUP(freep) char *made = must_format("%s.new", store->index);
	int fd = open(made, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		      store_file_mode(store->directory));
	int error = fd < 0 ? -errno : write_rows(store, fd);

	if (!error && rename(made, store->index))
		error = -errno;
	if (!error)
		error = store_sync(store->windows);
	if (error) {
		if (fd >= 0)
			close(fd);
		unlink(made);
		return fail(error, "make room", "cannot write %s", made);
	}
	close(store->index_fd);
	store->index_fd = fd;
	store->index_rows = store->entries.count;
	for (size_t i = 0; i < store->entries.count; i++)
		store->entries.items[i].row = i;
	vec_release(&store->rebuilt);
	store->is_index_stale = false;
	return 0;
}
