/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rows of windows/index: of one size, each with a checksum, appended in the order in which
 * windows were committed. Private to the folder.
 *
 * Of several rows of one window the last counts. What is at the end and no whole row is a row that
 * was being written.
 */
#ifndef CONTINUOUS_STORE_ROWS_H
#define CONTINUOUS_STORE_ROWS_H

#include "base/cursor.h"
#include "base/vec.h"
#include "continuous/store.h"

/* Names a window's file: day, time of day and a number for those that begin in the same second, so
 * that keys stand in the order of names. */
typedef u64 window_key;

/* The name of a window that begins there; `number` tells apart those of one second, from 0. */
window_key window_key_at(u64 start_ns, u32 number);
/* The same for a day like 20261121 and a time of day like 140500; false: there is no such moment,
 * or no such number. */
bool window_key_of(u32 day, u32 clock, u32 number, window_key *ret_key);
/* The second in which it begins, CLOCK_REALTIME ns. */
u64 window_key_start(window_key key);
/* Which of its second it is. */
u32 window_key_number(window_key key);

/* Little endian, as all hosts are. */
struct index_row {
	window_key key;
	u64 start_ns, end_ns, bytes, samples;
	u32 rate_hz, lost_before;
	u32 flags;    /* enum store_flag */
	u32 reserved; /* 0 */
	u32 losses[COUNTERS_MAX];
	u64 checksum; /* XXH3 of what is before it */
};
_Static_assert(sizeof(struct index_row) == 64 + 4 * COUNTERS_MAX, "a row has holes");

/* The row of a window. */
struct index_row index_row_of(window_key key, const struct store_window *window);
/* What a row tells. */
struct store_window index_row_window(const struct index_row *row);

/* A window as the store keeps it in memory. */
struct entry {
	window_key key;
	u64 start_ns, end_ns, bytes;
	u64 row; /* of the index, from 0 */
};

typedef VEC(struct entry) entry_list;

/* What reading an index found. */
struct index_state {
	u64 rows;    /* whole ones, sound or not */
	u64 damaged; /* of them */
	bool is_torn;
};

/*
 * Reads the sound rows of an index, by key and without doubles.
 *
 * entries  gets one for each; empty before
 */
struct index_state index_read(struct bytes index, entry_list *entries);
/* One row of an open index. Returns 0, or a negative errno without a sentence (-EBADMSG). */
int index_read_row(int fd, u64 row, struct index_row *ret_row);

#endif
