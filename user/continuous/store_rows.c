/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of the index: made, checked, read.
 */
#include "continuous/store_rows.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

enum { NUMBER_BITS = 19, CLOCK_BITS = 18 };
static const u64 second_ns = 1000000000;

static window_key key_of(u64 day, u64 clock, u32 number)
{
	return day << (CLOCK_BITS + NUMBER_BITS) | clock << NUMBER_BITS |
	       (number & ((1u << NUMBER_BITS) - 1));
}

window_key window_key_at(u64 start_ns, u32 number)
{
	time_t seconds = (time_t)(start_ns / second_ns);
	struct tm parts = {0};
	u64 day, clock;

	gmtime_r(&seconds, &parts);
	day = (u64)(u32)((parts.tm_year + 1900) * 10000 + (parts.tm_mon + 1) * 100 + parts.tm_mday);
	clock = (u64)(u32)(parts.tm_hour * 10000 + parts.tm_min * 100 + parts.tm_sec);
	return key_of(day, clock, number);
}

bool window_key_of(u32 day, u32 clock, u32 number, window_key *ret_key)
{
	window_key key = key_of(day, clock, number);

	/* the 31st of June would be the 1st of July */
	if (window_key_at(window_key_start(key), number) != key)
		return false;
	*ret_key = key;
	return true;
}

u64 window_key_start(window_key key)
{
	u64 day = key >> (CLOCK_BITS + NUMBER_BITS);
	u64 clock = key >> NUMBER_BITS & ((1u << CLOCK_BITS) - 1);
	struct tm parts = {
		.tm_year = (int)(day / 10000) - 1900,
		.tm_mon = (int)(day / 100 % 100) - 1,
		.tm_mday = (int)(day % 100),
		.tm_hour = (int)(clock / 10000),
		.tm_min = (int)(clock / 100 % 100),
		.tm_sec = (int)(clock % 100),
	};
	time_t seconds = timegm(&parts);

	return seconds > 0 ? (u64)seconds * second_ns : 0;
}

u32 window_key_number(window_key key)
{
	return (u32)(key & ((1u << NUMBER_BITS) - 1));
}

static u64 checksum_of(const struct index_row *row)
{
	return XXH3_64bits(row, offsetof(struct index_row, checksum));
}

struct index_row index_row_of(window_key key, const struct store_window *window)
{
	struct index_row row = {
		.key = key,
		.start_ns = window->start_ns,
		.end_ns = window->end_ns,
		.bytes = window->bytes,
		.samples = window->samples,
		.rate_hz = window->rate_hz,
		.lost_before = window->lost_before,
		.flags = window->flags,
	};

	for (size_t i = 0; i < COUNTERS_MAX; i++)
		row.losses[i] = window->losses[i] < UINT32_MAX ? (u32)window->losses[i]
							       : UINT32_MAX;
	row.checksum = checksum_of(&row);
	return row;
}

struct store_window index_row_window(const struct index_row *row)
{
	struct store_window window = {
		.start_ns = row->start_ns,
		.end_ns = row->end_ns,
		.bytes = row->bytes,
		.samples = row->samples,
		.rate_hz = row->rate_hz,
		.lost_before = row->lost_before,
		.flags = row->flags,
	};

	for (size_t i = 0; i < COUNTERS_MAX; i++)
		window.losses[i] = row->losses[i];
	return window;
}

/* By name; of one window by row. */
static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static void drop_doubles(entry_list *entries)
{
	size_t kept = 0;

	for (size_t i = 0; i < entries->count; i++)
		if (i + 1 == entries->count || entries->items[i + 1].key != entries->items[i].key)
			entries->items[kept++] = entries->items[i];
	entries->count = kept;
}

struct index_state index_read(struct bytes index, entry_list *entries)
{
	struct index_state state = {
		.rows = index.length / sizeof(struct index_row),
		.is_torn = index.length % sizeof(struct index_row) != 0,
	};

	vec_reserve(entries, state.rows);
	for (u64 i = 0; i < state.rows; i++) {
		struct index_row row;

		memcpy(&row, index.start + i * sizeof(row), sizeof(row));
		if (row.checksum != checksum_of(&row)) {
			state.damaged++;
			continue;
		}
		*vec_add(entries) = (struct entry){.key = row.key,
						   .start_ns = row.start_ns,
						   .end_ns = row.end_ns,
						   .bytes = row.bytes,
						   .row = i};
	}
	if (entries->count)
		qsort(entries->items, entries->count, sizeof(*entries->items), compare_entries);
	drop_doubles(entries);
	return state;
}

int index_read_row(int fd, u64 row, struct index_row *ret_row)
{
	ssize_t got = pread(fd, ret_row, sizeof(*ret_row), (off_t)(row * sizeof(*ret_row)));

	if (got < 0)
		return -errno;
	return got == sizeof(*ret_row) && ret_row->checksum == checksum_of(ret_row) ? 0 : -EBADMSG;
}
