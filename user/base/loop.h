/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waiting for descriptors, timers and signals in one place (epoll, timerfd, signalfd).
 *
 *	loop_open(&loop);
 *	loop_on_signals(loop, (const int[]){SIGINT, SIGTERM}, 2, (struct loop_handler){stop, self});
 *	loop_on_timer(loop, 250000000, (struct loop_handler){drain, self});
 *	error = loop_run(loop);		until a handler calls loop_end() or returns an error
 *	loop_close(loop);
 */
#ifndef BASE_LOOP_H
#define BASE_LOOP_H

#include "bpfprof/types.h"

#include <stddef.h>

struct loop;

/* Called when what it waits for has happened.
 *
 * number  descriptors: which one is readable (or hung up); timers: how often it has fired since the
 *         last call, at least 1; signals: the signal's number
 * Returns 0 to go on, or a negative errno, with which loop_run() ends. */
struct loop_handler {
	int (*call)(void *context, u64 number);
	void *context;
};

/* Makes an empty loop. Returns 0 or a negative errno with a sentence. */
int loop_open(struct loop **ret_loop);
/* Closes what the loop made, gives the signals back their old mask, and frees; NULL is fine. */
void loop_close(struct loop *loop);

/* Calls `handler` as long as `fd` (borrowed) is readable. Returns 0 or a negative errno with a
 * sentence. */
int loop_on_readable(struct loop *loop, int fd, struct loop_handler handler);

/* Calls `handler` every `interval_ns`, at least 1, first after one interval. Returns 0 or a
 * negative errno with a sentence. */
int loop_on_timer(struct loop *loop, u64 interval_ns, struct loop_handler handler);

/* From within the handler of a timer: calls it every `interval_ns`, at least 1, from now on. */
void loop_change_timer(struct loop *loop, u64 interval_ns);

/* Blocks these signals, for the whole process if it has one thread, and calls `handler` for each
 * that arrives. Programs that are started meanwhile inherit the blocked mask: unblock it between
 * fork() and exec(). Returns 0 or a negative errno with a sentence. */
int loop_on_signals(struct loop *loop, const int *signals, size_t count,
		    struct loop_handler handler);

/* Waits and calls handlers until loop_end() or the first handler that returns an error.
 * Returns that error, or the result given to loop_end(). */
int loop_run(struct loop *loop);
/* Ends loop_run() when the handler that calls this has returned. */
void loop_end(struct loop *loop, int result);

#endif
