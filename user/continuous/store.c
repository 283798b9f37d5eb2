/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The store: opened, written window by window, read.
 *
 * A window becomes durable in this order: its file, its name, its row. A power cut between two of
 * them leaves something that the next opening puts right.
 */
#include "continuous/store_state.h"

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "continuous/folder_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum {
	/* So many windows go for their age at once: a clock that is wrong for a minute must not
	 * take all. */
	MOST_AGED = 64,
	STALE_ROWS = 1024, /* more than there are windows: then the index is written anew */
};

/* People set clocks by hours; what is further off was never the time. */
static const u64 ahead_ns = 86400000000000;

static const char own_one[] = "give it to the user who runs the daemon, or give another --store";
static const char start_one[] = "start bpfprof daemon, or name its folder with --store";

void store_note(struct store *store, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	text_appendv(&store->notes, format, arguments);
	text_append(&store->notes, "\n");
	va_end(arguments);
}

int store_sync(const char *path)
{
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 || fsync(fd) ? -errno : 0;
}

/* --- opening --- */

/* Whether a store is there or may be begun; changes nothing of what is there. */
static int find_place(const struct store *store, bool *ret_has_format)
{
	int error = store_make_folder(store, store->directory);

	error = error ? error : store_refuse_other_than_folder(store->directory);
	error = error ? error : folder_check_owner(store->directory, own_one);
	error = error ? error : store_check_format(store, ret_has_format);
	if (error || *ret_has_format || !access(store->windows, F_OK))
		return error;
	return store_refuse_others_folder(store);
}

static int open_to_write(struct store *store)
{
	bool has_format;
	int error = find_place(store, &has_format);

	if (error)
		return error;
	store_settle_access(store);
	error = store_take_lock(store);
	if (!error)
		store_share_content(store);
	if (!error && !has_format) {
		if (!access(store->windows, F_OK))
			store_note(store, "%s/format was missing", store->directory);
		error = store_write_format(store);
	}
	error = error ? error : store_make_folder(store, store->windows);
	error = error ? error : store_refuse_other_than_folder(store->windows);
	error = error ? error : store_make_folder(store, store->names);
	return error ? error : store_load(store);
}

static int open_to_read(struct store *store)
{
	bool has_format;
	int error = store_refuse_other_than_folder(store->windows);

	if (error)
		return error;
	if (access(store->windows, R_OK | X_OK) && errno == EACCES)
		return store_refuse_reader(store);
	if (access(store->windows, R_OK | X_OK))
		return fail(-errno, errno == ENOENT ? start_one : NULL, "cannot read the store %s",
			    store->directory);
	error = store_check_format(store, &has_format);
	if (!error && !has_format)
		store_note(store, "%s/format is missing", store->directory);
	return error ? error : store_load(store);
}

int store_open(const char *directory, enum store_access access, struct store **ret_store)
{
	CLEANUP(store_closep) struct store *store = must_alloc(sizeof(*store));
	int error;

	*store = (struct store){
		.directory = must_copy(directory),
		.windows = must_format("%s/windows", directory),
		.index = must_format("%s/windows/index", directory),
		.names = must_format("%s/names", directory),
		.writes = access == STORE_WRITE,
		.lock_fd = -1,
		.index_fd = -1,
	};
	error = store->writes ? open_to_write(store) : open_to_read(store);
	if (error)
		return error;
	*ret_store = TAKE(store);
	return 0;
}

/* Removes what was begun. */
static void remove_begun(struct store *store)
{
	if (store->begun_path)
		unlink(store->begun_path);
	free(TAKE(store->begun_path));
}

void store_close(struct store *store)
{
	if (!store)
		return;
	remove_begun(store);
	closep(&store->index_fd);
	closep(&store->lock_fd);
	vec_release(&store->entries);
	vec_release(&store->rebuilt);
	vec_release(&store->sums);
	text_release(&store->notes);
	free(store->directory);
	free(store->windows);
	free(store->index);
	free(store->names);
	free(store);
}

void store_closep(struct store **store)
{
	store_close(*store);
}

const char *store_notes(const struct store *store)
{
	return text_view(&store->notes);
}

const char *store_path(const struct store *store)
{
	return store->directory;
}

const char *store_names_path(const struct store *store)
{
	return store->names;
}

u64 store_lost_windows(const struct store *store)
{
	return store->lost_windows;
}

u64 store_bytes(const struct store *store)
{
	return store->bytes;
}

size_t store_count(const struct store *store)
{
	return store->entries.count;
}

/* --- what is kept --- */

static bool is_before(const struct entry *left, const struct entry *right)
{
	return left->start_ns != right->start_ns ? left->start_ns < right->start_ns
						 : left->key < right->key;
}

void store_add_entry(struct store *store, struct entry entry)
{
	entry_list *entries = &store->entries;
	size_t at = entries->count;

	*vec_add(entries) = entry;
	for (; at && is_before(&entry, &entries->items[at - 1]); at--)
		entries->items[at] = entries->items[at - 1];
	entries->items[at] = entry;
	store->bytes += entry.bytes;
}

static void drop_entries(struct store *store, size_t at, size_t count)
{
	entry_list *entries = &store->entries;

	memmove(&entries->items[at], &entries->items[at + count],
		(entries->count - at - count) * sizeof(*entries->items));
	entries->count -= count;
}

static void remove_window(struct store *store, const struct entry *entry)
{
	CLEANUP(freep) char *path = window_file_path(store->windows, entry->key, WINDOW_DATA);
	CLEANUP(freep) char *folder = window_folder_path(store->windows, entry->key);

	unlink(path);
	store->bytes -= entry->bytes;
	store_end_sums(store, entry->start_ns);
	/* If it was the last one, and none is about to be written there. */
	if (!store->begun_path || strncmp(store->begun_path, folder, strlen(folder)) != 0)
		rmdir(folder);
}

static bool is_too_much(const struct store *store)
{
	return store->limits.keep_bytes && store->bytes > store->limits.keep_bytes;
}

/* Before the one written last: one of a clock that was ahead would make all others old. */
static bool is_too_old(const struct store *store, const struct entry *entry)
{
	return store->limits.keep_ns && store->newest_end_ns > store->limits.keep_ns &&
	       entry->end_ns < store->newest_end_ns - store->limits.keep_ns;
}

/* The first one that begins so far behind the one written last that a clock was wrong. */
static size_t find_ahead(const struct store *store)
{
	const entry_list *entries = &store->entries;
	size_t at = entries->count;

	while (store->newest && at &&
	       entries->items[at - 1].start_ns > store->newest_end_ns + ahead_ns)
		at--;
	return at;
}

/* Removes windows from one on as the limits say, up to the one that stays. Returns where it
 * ended. */
static size_t remove_run(struct store *store, size_t at, window_key stays)
{
	const entry_list *entries = &store->entries;
	size_t count = 0;

	for (; at + count < entries->count; count++) {
		const struct entry *entry = &entries->items[at + count];

		if (entry->key == stays ||
		    !(is_too_much(store) || (count < MOST_AGED && is_too_old(store, entry))))
			break;
		remove_window(store, entry);
	}
	if (count)
		drop_entries(store, at, count);
	return at;
}

/*
 * Removes windows as the limits say: those of a clock that was ahead, and then the oldest. The one
 * written last stays in any case, also where the clock was set back and it is the oldest.
 */
static void keep_limits(struct store *store)
{
	const entry_list *entries = &store->entries;
	size_t count = entries->count, at;
	window_key stays;

	if (!count)
		return;
	stays = store->newest ? store->newest : entries->items[count - 1].key;
	remove_run(store, find_ahead(store), stays);
	at = remove_run(store, 0, stays);
	if (at < entries->count && entries->items[at].key == stays)
		remove_run(store, at + 1, stays);
	if (entries->count != count)
		store_remove_stale_sums(store);
}

void store_limit(struct store *store, struct store_limits limits)
{
	store->limits = limits;
	keep_limits(store);
}

/* --- writing --- */

static void count_lost(struct store *store)
{
	store->lost_windows++;
	store->lost_before_next++;
}

/* A name that neither a window has nor one that is being written. */
static window_key free_key(const struct store *store, u64 start_ns)
{
	for (u32 number = 0;; number++) {
		window_key key = window_key_at(start_ns, number);
		CLEANUP(freep) char *path = window_file_path(store->windows, key, WINDOW_DATA);
		CLEANUP(freep) char *open_path = window_file_path(store->windows, key, WINDOW_OPEN);

		if (access(path, F_OK) && access(open_path, F_OK))
			return key;
	}
}

int store_begin(struct store *store, u64 start_ns, const char **ret_path)
{
	CLEANUP(freep) char *folder = NULL;
	window_key key = free_key(store, start_ns);
	int error;

	folder = window_folder_path(store->windows, key);
	error = store_make_day(store, folder);
	if (error) {
		count_lost(store);
		return error;
	}
	remove_begun(store);
	store->begun = key;
	store->begun_path = window_file_path(store->windows, key, WINDOW_OPEN);
	*ret_path = store->begun_path;
	return 0;
}

void store_abandon(struct store *store)
{
	if (!store->begun_path)
		return;
	remove_begun(store);
	count_lost(store);
}

int store_name_file(const struct store *store, window_key key)
{
	CLEANUP(freep) char *open_path = window_file_path(store->windows, key, WINDOW_OPEN);
	CLEANUP(freep) char *path = window_file_path(store->windows, key, WINDOW_DATA);
	CLEANUP(freep) char *folder = window_folder_path(store->windows, key);
	int error = store_sync(open_path);

	if (error)
		return error;
	if (rename(open_path, path))
		return -errno;
	error = store_sync(folder);
	error = error ? error : store_sync(store->windows);
	if (error)
		unlink(path);
	return error;
}

/* The file, and then its name. */
static int keep_file(struct store *store, u64 *ret_bytes)
{
	struct stat status;

	if (stat(store->begun_path, &status) ||
	    chmod(store->begun_path, store_file_mode(store->directory)))
		return -errno;
	*ret_bytes = (u64)status.st_size;
	return store_name_file(store, store->begun);
}

/* A row behind the others; what is written of it in vain is taken back. */
static int append_row(struct store *store, const struct index_row *row)
{
	off_t end = (off_t)(store->index_rows * sizeof(*row));
	int error = file_write_all_at(store->index_fd, row, sizeof(*row), end);

	if (!error && fdatasync(store->index_fd))
		error = -errno;
	if (!error)
		store->index_rows++;
	else if (ftruncate(store->index_fd, end))
		store_note(store, "cannot cut %s: %s", store->index, strerror(errno));
	return error;
}

static bool wants_new_index(const struct store *store)
{
	return store->is_index_stale || store->index_rows > store->entries.count * 2 + STALE_ROWS;
}

static void added(struct store *store, const struct index_row *row)
{
	store_add_entry(store, (struct entry){.key = row->key,
					      .start_ns = row->start_ns,
					      .end_ns = row->end_ns,
					      .bytes = row->bytes,
					      .row = store->index_rows - 1});
	store_remove_sums(store, row->start_ns); /* they lack it */
	store->has_written = true;
	store->newest = row->key;
	store->newest_end_ns = row->end_ns;
	store->lost_before_next = 0;
	keep_limits(store);
	/* If that fails, the old index does, and the next window tries again. */
	if (wants_new_index(store) && store_rewrite_index(store))
		fail_clear();
}

int store_commit(struct store *store, const struct store_window *window)
{
	CLEANUP(freep) char *path = window_file_path(store->windows, store->begun, WINDOW_DATA);
	struct store_window kept = *window;
	struct index_row row;
	int error = keep_file(store, &kept.bytes);

	kept.lost_before = store->lost_before_next;
	if (!store->has_written)
		kept.flags |= STORE_STARTED;
	row = index_row_of(store->begun, &kept);
	if (!error) {
		error = append_row(store, &row);
		if (error)
			unlink(path);
	}
	remove_begun(store);
	if (error) {
		count_lost(store);
		return fail(error, store_remedy(error), "cannot write %s", path);
	}
	added(store, &row);
	return 0;
}

char *store_newest_path(const struct store *store)
{
	return store->newest ? window_file_path(store->windows, store->newest, WINDOW_DATA) : NULL;
}

/* --- reading --- */

static int take_entry(const struct store *store, const struct entry *entry, store_take *take,
		      void *context)
{
	CLEANUP(freep) char *path = window_file_path(store->windows, entry->key, WINDOW_DATA);
	struct store_window window;
	struct index_row row;
	int error = store_read_row(store, entry, &row);

	if (error)
		return fail(error, NULL, "cannot read %s", store->index);
	window = index_row_window(&row);
	return take(context, &window, path);
}

int store_each(struct store *store, u64 from_ns, u64 to_ns, store_take *take, void *context)
{
	int result = 0;

	for (size_t i = 0; !result && i < store->entries.count; i++) {
		const struct entry *entry = &store->entries.items[i];
		/* one without length lies where it begins */
		u64 end_ns = entry->end_ns > entry->start_ns ? entry->end_ns : entry->start_ns + 1;

		if (entry->start_ns < to_ns && end_ns > from_ns)
			result = take_entry(store, entry, take, context);
	}
	return result;
}
