/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Cuts an endless stream of events into windows, each of which can be read alone.
 *
 * Samples of the open window are summed: those of one thread under one name, of one event, at one
 * place with one stack are one, with their periods added up and the CPU of the last. Who runs and
 * what is mapped is kept from window to window; a window takes along of it what its samples need:
 * names of their threads, the mappings that their frames lie in.
 *
 *	window_sink()		all events go in there
 *	window_end_at()		says when it is over; then:
 *	window_hand_over()	the window's events, for the writer of a file
 *	window_turn()		the next one begins
 */
#ifndef CONTINUOUS_WINDOW_H
#define CONTINUOUS_WINDOW_H

#include "binary/binary.h"
#include "event/event.h"

struct file_stamp;
struct window;

/* Where the samples of one process lie in code that it made. */
struct jit_addresses {
	u32 pid;
	size_t count;
	const u64 *items; /* ascending */
};

/* Where samples lie in the code of one file. */
struct sampled_code {
	const struct mapping *binary; /* of a process that has it, one that lives if there is one */
	size_t count;
	/* Ascending: file offsets times two, and one more for where a call returns to. */
	const u64 *places;
};

struct window_settings {
	/* Told of a binary when its first sample is there, also if its process lives shorter than
	 * a window. `binary` is a mapping of it, borrowed for the call. True: that was all; false:
	 * it is told again with each process that runs it, and in each window. Of a module of the
	 * kernel when it has been loaded: it may be gone before a sample comes.
	 */
	bool (*take_binary)(void *context, const struct mapping *binary);
	/* Whether the file that a process has mapped is another one by now than the mapping says,
	 * because somebody wrote into it: 1 or 0, negative if this mapping cannot tell any more.
	 * Asked once a window of each binary that has samples, with what it left in `checked` of
	 * that binary the last time (zeroed: nothing). NULL: none is. */
	int (*is_overwritten)(void *context, const struct mapping *binary,
			      struct file_stamp *checked);
	/* Samples lie in code that a process made, which probably lives yet. NULL: nobody asks. */
	void (*meet_jit)(void *context, u32 pid);
	/* At the window's end, where they lie, in ascending order. Returns whether names are kept
	 * under the build id that it writes. NULL: they are not. */
	bool (*take_jit)(void *context, const struct jit_addresses *addresses,
			 struct build_id *ret_id);
	/* At the window's end, where samples lie in a file that has a build id and still is what
	 * its mapping said. All is borrowed for the call. NULL: nobody asks. */
	void (*take_code)(void *context, const struct sampled_code *code);
	void *context;	    /* of all of them but … */
	void *file_context; /* … is_overwritten */
	u64 memory_bytes; /* that the samples of a window and the processes may take; 0: no limit */
};

/* A window without anything in it; free with window_free(). */
struct window *window_new(const struct window_settings *settings);
/* NULL is fine. */
void window_free(struct window *window);

/* The sink; lives as long as the window. Samples are looked at with each round, so everything that
 * is older has to have come by then. */
struct event_sink *window_sink(struct window *window);

/* What is in the open window. */
struct window_counts {
	u64 samples;	/* as they were taken, not summed */
	u64 sums;	/* records that they became */
	u64 told_bytes; /* of these */
	u64 stacks;	/* different ones */
	u64 threads;	/* of the machine, not only those with samples */
	u64 bytes;	/* of memory: about so many are in use for window and processes */
	u64 samples_dropped, mappings_dropped; /* for want of memory */
};

/* So far. */
struct window_counts window_counts(const struct window *window);

/*
 * Whether the memory for samples is used up: the window should be ended early, which costs nothing
 * but space on disk. Samples that come nevertheless are dropped and counted when it is used twice.
 */
bool window_is_full(const struct window *window);

/* When the open window ends, CLOCK_MONOTONIC; ~0, as it is at first: not yet known. Samples from
 * then on wait for the next one. */
void window_end_at(struct window *window, u64 end_ns);

/* Takes in the samples of the window that still wait, so that window_counts() has them. */
void window_settle(struct window *window);

/*
 * The events of the window: first those about processes and the kernel, in order of time, then its
 * samples, those of like stacks side by side. What was there before the window has time 0, and so
 * has what may be told as if it had been. Samples have the time of the first one, but for the last,
 * and where times matter: those of a process of which something else is told with a time. Code of
 * files lies at seen_files_place().
 *
 * Returns 0 or what the sink returned; the window stays as it is.
 */
int window_hand_over(struct window *window, struct event_sink *sink);

/* Begins the next window where this one ends. */
void window_turn(struct window *window);

/* Records of processes were lost: forgets those that do not live any more. */
void window_forget_dead(struct window *window, bool (*is_alive)(u32 pid, u32 tid), u64 now_ns);

#endif
