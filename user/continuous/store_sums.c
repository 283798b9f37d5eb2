/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which sums of windows there are, and which are to be made.
 */
#include "continuous/store_state.h"

#include "base/memory.h"

#include <string.h>
#include <sys/stat.h>

enum { LEAST_WINDOWS = 2 }; /* that are worth sums */

_Static_assert(86400000000000ull % STORE_SUMS_NS == 0, "the sums of a day are in its folder");

char *store_sums_path(const char *directory, u64 start_ns)
{
	CLEANUP(freep) char *windows = must_format("%s/windows", directory);

	return window_file_path(windows, window_key_at(store_sums_start(start_ns), 0), WINDOW_SUMS);
}

/* The first that begins there or later. */
static size_t find_sums(const struct store *store, u64 start_ns)
{
	size_t low = 0, high = store->sums.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (store->sums.items[middle].start_ns < start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool are_there(const struct store *store, size_t at, u64 start_ns)
{
	return at < store->sums.count && store->sums.items[at].start_ns == start_ns;
}

void store_add_sums(struct store *store, struct sums sums)
{
	size_t at = find_sums(store, sums.start_ns), behind = store->sums.count - at;

	if (are_there(store, at, sums.start_ns)) {
		store->bytes -= store->sums.items[at].bytes;
	} else {
		vec_add(&store->sums);
		memmove(&store->sums.items[at + 1], &store->sums.items[at],
			behind * sizeof(*store->sums.items));
	}
	store->sums.items[at] = sums;
	store->bytes += sums.bytes;
}

static void remove_at(struct store *store, size_t at)
{
	CLEANUP(freep)
	char *path = store_sums_path(store->directory, store->sums.items[at].start_ns);

	unlink(path);
	store->bytes -= store->sums.items[at].bytes;
	memmove(&store->sums.items[at], &store->sums.items[at + 1],
		(--store->sums.count - at) * sizeof(*store->sums.items));
}

void store_remove_sums(struct store *store, u64 start_ns)
{
	size_t at = find_sums(store, store_sums_start(start_ns));

	if (are_there(store, at, store_sums_start(start_ns)))
		remove_at(store, at);
}

void store_end_sums(struct store *store, u64 start_ns)
{
	u64 sums_ns = store_sums_start(start_ns);
	size_t at = find_sums(store, sums_ns);

	if (!are_there(store, at, sums_ns) || store->sums.items[at].bytes)
		store_remove_sums(store, start_ns);
	store_add_sums(store, (struct sums){.start_ns = sums_ns});
}

void store_sums_made(struct store *store, u64 start_ns)
{
	CLEANUP(freep) char *path = store_sums_path(store->directory, start_ns);
	struct stat status = {0};

	if (stat(path, &status))
		status.st_size = 0;
	store_add_sums(store, (struct sums){start_ns, (u64)status.st_size});
}

void store_remove_stale_sums(struct store *store)
{
	size_t entry = 0, at = 0;

	while (at < store->sums.count) {
		u64 start_ns = store->sums.items[at].start_ns;

		while (entry < store->entries.count &&
		       store->entries.items[entry].start_ns < start_ns)
			entry++;
		if (entry < store->entries.count &&
		    store_sums_start(store->entries.items[entry].start_ns) == start_ns)
			at++;
		else
			remove_at(store, at);
	}
}

/* How many windows behind each other, the last of which is the one before `end`, are summed
 * together. */
static size_t count_together(const struct store *store, size_t end)
{
	const struct entry *entries = store->entries.items;
	u64 start_ns = store_sums_start(entries[end - 1].start_ns);
	size_t count = 0;

	while (count < end && store_sums_start(entries[end - 1 - count].start_ns) == start_ns)
		count++;
	return count;
}

/* Of the window written last; of the last by start when none was since the store was opened. */
static u64 newest_end(const struct store *store)
{
	const entry_list *entries = &store->entries;

	if (store->newest || !entries->count)
		return store->newest_end_ns;
	return entries->items[entries->count - 1].end_ns;
}

bool store_sums_wanted(const struct store *store, u64 *ret_start_ns)
{
	const struct entry *entries = store->entries.items;
	size_t end = store->entries.count, count;
	u64 newest_end_ns = newest_end(store);

	for (; end; end -= count) {
		u64 start_ns = store_sums_start(entries[end - 1].start_ns);

		count = count_together(store, end);
		if (count < LEAST_WINDOWS || start_ns + STORE_SUMS_NS > newest_end_ns ||
		    are_there(store, find_sums(store, start_ns), start_ns))
			continue;
		*ret_start_ns = start_ns;
		return true;
	}
	return false;
}
