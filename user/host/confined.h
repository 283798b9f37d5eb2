/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Work on files that anybody may have written, in processes that have no capabilities, no file but
 * those that they are given, and of system calls only what it takes to read them.
 *
 * A process does `jobs_each` pieces of work at most. What a file makes of its reader can spoil the
 * answer about that file, and those about the files that come after it to the same process: one
 * process for each (`wants_new` of the first piece of work on it) takes a fork, a millisecond, and
 * is right where that does not matter.
 */
#ifndef HOST_CONFINED_H
#define HOST_CONFINED_H

#include "base/cursor.h"
#include "base/text.h"

struct confined;

enum { CONFINED_FILES_MAX = 16, CONFINED_QUESTION_BYTES = 256 };

/* Done over there: appends the answer. Returns 0 or a negative errno. Threads cannot be started. */
typedef int confined_work(const int *fds, size_t fd_count, struct bytes question,
			  struct text *answer);

struct confined_settings {
	confined_work *const *works;
	size_t work_count;
	const char *name; /* of the processes, as ps shows it */
	u32 jobs_each;	  /* pieces of work that one process does; 0: one */
	int nice;	  /* 0, or more: work runs when nobody else wants to */
	u32 most_cpu_s;	  /* for a piece of work, then it is ended … */
	u32 most_wall_s;  /* … or if its files take so long to be read; 0: any time. Who starts it
			     is given up if nothing is heard of it for twice that */
};

/*
 * Starts the process that will start those that work, as nobody if we are root. To be called while
 * there is one thread, and before any capability is given up.
 *
 * ret_confined  confined_stop() it
 * Returns 0 or a negative errno with a sentence.
 */
int confined_start(const struct confined_settings *settings, struct confined **ret_confined);
/* Ends it, and what works, also if somebody stopped it; waits for that for some seconds at most.
 * NULL is fine. */
void confined_stop(struct confined *confined);

struct confined_job {
	u32 work; /* its place in `works` */
	const int *fds;
	size_t fd_count;       /* at most CONFINED_FILES_MAX */
	bool wants_new;	       /* a process that has done nothing else, whatever `jobs_each` says */
	struct bytes question; /* at most CONFINED_QUESTION_BYTES */
};

/*
 * Has a piece of work done, and waits for it; by one thread at a time.
 *
 * ret_answer  its start is the caller's to free(); to be checked like anything a stranger wrote
 * Returns 0, what the work returned, -EOWNERDEAD (the process was killed, or broke a rule), -ETIME
 * (it took too long) or -EPIPE (nothing is worked on any more), without a sentence.
 */
int confined_run(struct confined *confined, const struct confined_job *job,
		 struct bytes *ret_answer);

/* From then on (CLOCK_MONOTONIC) nothing is waited for: what is worked on is given up within a
 * second, and with it all that comes later. Any thread may say so. */
void confined_end_at(struct confined *confined, u64 end_ns);

/* CPU time that work, and starting it, has taken so far. Any thread may ask. */
u64 confined_cpu_ns(const struct confined *confined);
/* Whether somebody has ended the process that starts others, or stopped it and it was given up. Any
 * thread may ask. */
bool confined_is_gone(const struct confined *confined);

#endif
