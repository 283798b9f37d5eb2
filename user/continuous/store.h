/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Windows of time on disk: one perf.data each, an index of them, a limit to what they take.
 *
 *	DIR/pushes                             how pushing goes (push_state.h)
 *	DIR/lock                               who writes: held as long as it lives, holds its pid
 *	DIR/format                             "bpfprof store 1"
 *	DIR/windows/20261121/140500.data       a window by its start in UTC; stock perf reads it
 *	DIR/windows/20261121/140500.open       … while it is written
 *	DIR/windows/20261121/140000.sums       what the windows of a quarter of an hour count
 *together DIR/windows/index                      a row for each window (store_rows.h) DIR/names/
 *for who keeps the names of functions
 *
 * The windows are what counts. The index only saves opening them: rows that are damaged or missing
 * are made again out of the windows, and rows without a window are dropped. Sums only save reading
 * windows: they go with the first of theirs, and can be made again.
 */
#ifndef CONTINUOUS_STORE_H
#define CONTINUOUS_STORE_H

#include "bpfprof/counters.h"
#include "bpfprof/types.h"

#include <stdbool.h>
#include <stddef.h>

#define STORE_DIRECTORY "/var/lib/bpfprof"

/* Its members may read a store, where there is such a group. */
#define STORE_GROUP "bpfprof"

enum store_access { STORE_READ, STORE_WRITE };

enum store_flag {
	STORE_STARTED = 1 << 0,	     /* the first one of a writer: nobody recorded before it */
	STORE_CUT = 1 << 1,	     /* its writer was killed: what was on disk by then */
	STORE_RECOVERED = 1 << 2,    /* told by its file, not by the index: start to the second */
	STORE_RATE_LOWERED = 1 << 3, /* sampled at less than was asked for, to keep cost down */
};

/* What the index knows of a window. */
struct store_window {
	u64 start_ns, end_ns; /* CLOCK_REALTIME; clocks jump, so windows may overlap */
	u64 bytes;	      /* of its file; told by the store */
	u64 samples;
	u64 losses[COUNTERS_MAX]; /* by enum counter; at most 2^32 - 1 each */
	u32 rate_hz;		  /* samples a second on each CPU; 0: not known */
	u32 lost_before;	  /* windows that could not be written before it; by the store */
	u32 flags;		  /* enum store_flag; the store adds STARTED, CUT and RECOVERED */
};

/*
 * How much is kept. The oldest go first, by start; before them, where there are too many bytes,
 * those that begin more than a day after the one written last: a clock was wrong. That one stays.
 */
struct store_limits {
	u64 keep_bytes; /* of windows; 0: no limit */
	u64 keep_ns;	/* before the end of the one written last since store_open(); 0: no limit */
};

struct store;

/*
 * Opens a store; for writing, makes what is not there yet and puts right what a writer that was
 * killed left behind. What is found damaged is told by store_notes() and costs nothing else.
 *
 * ret_store  store_close() it
 * Returns 0, or a negative errno with a sentence: -EBUSY (another process writes; it is named),
 * -EPROTO (of a newer format, no store, or something else is in the place of its files), -ENOENT
 * (reading: there is none), -EPERM (writing: its folder is another user's), -EACCES, -EROFS …
 */
int store_open(const char *directory, enum store_access access, struct store **ret_store);
/* Lets go of the lock and frees; a window that was begun and not committed is removed. NULL is
 * fine. */
void store_close(struct store *store);
/* For CLEANUP. */
void store_closep(struct store **store);

/* What was put right or passed over so far, one line each; "" if nothing. Borrowed until the next
 * call that changes the store. */
const char *store_notes(const struct store *store);
/* The folder that was opened. Borrowed until store_close(). */
const char *store_path(const struct store *store);
/* Where the names of functions are kept: "DIR/names". Borrowed until store_close(). */
const char *store_names_path(const struct store *store);

/* --- writing --- */

/* Sets what is kept from now on; at first everything is. */
void store_limit(struct store *store, struct store_limits limits);

/*
 * Begins a window, of which there is one at a time.
 *
 * start_ns  CLOCK_REALTIME; may be before or in other windows
 * ret_path  where its perf.data is to be written, which nothing is yet. Borrowed until commit or
 *           abandon
 * Returns 0, or a negative errno with a sentence (-ENOSPC …): then nothing was begun, and the
 * window counts as lost.
 */
int store_begin(struct store *store, u64 start_ns, const char **ret_path);
/*
 * The window's file is written: makes it and its row durable, and removes what is beyond the
 * limits.
 *
 * window  its `bytes` and `lost_before` are not looked at
 * Returns 0, or a negative errno with a sentence (-ENOSPC, -EIO …): then the window is gone and
 * counted as lost, and the store is as it was before store_begin().
 */
int store_commit(struct store *store, const struct store_window *window);
/* The file of the window that was committed last since store_open(); owned by the caller. NULL:
 * there is none. */
char *store_newest_path(const struct store *store);
/* The window could not be written: removes what is there of it, and counts it as lost. */
void store_abandon(struct store *store);

/* What files in a store are made with: readable for the group if its folder is. */
u32 store_file_mode(const char *directory);

/* Windows that were lost since store_open(): abandoned, or failed to be committed. */
u64 store_lost_windows(const struct store *store);
/* Bytes of all windows that are there, and of their sums. */
u64 store_bytes(const struct store *store);
/* How many there are. */
size_t store_count(const struct store *store);

/* --- sums of windows --- */

/* How long the windows of one file of sums begin after each other, at most; a part of a day. */
#define STORE_SUMS_NS (15 * 60 * 1000000000ull)

/* When the time began whose windows are summed with one that begins there. */
static inline u64 store_sums_start(u64 start_ns)
{
	return start_ns - start_ns % STORE_SUMS_NS;
}

/* Where the sums of the windows that begin with that one are; owned by the caller. */
char *store_sums_path(const char *directory, u64 start_ns);
/*
 * The newest windows whose time is over by the end of the one committed last, or else of the last
 * one there is; of which there are several and no sums.
 *
 * ret_start_ns  of that time: store_sums_start() of theirs
 * Returns false if there are none.
 */
bool store_sums_wanted(const struct store *store, u64 *ret_start_ns);
/* The sums of that time are made, durable and under their name; or there will be none, until the
 * store is opened again, if nothing is there. Their bytes count like those of windows. */
void store_sums_made(struct store *store, u64 start_ns);

/* --- reading --- */

/* Called for a window; `path` is that of its perf.data; both are borrowed for the call. Not 0 ends
 * store_each(), which returns it. */
typedef int store_take(void *context, const struct store_window *window, const char *path);

/* Calls `take` for each window that has a part in [from_ns, to_ns), in order of their starts.
 * Returns 0, what `take` returned, or a negative errno with a sentence if the index cannot be
 * read. */
int store_each(struct store *store, u64 from_ns, u64 to_ns, store_take *take, void *context);

#endif
