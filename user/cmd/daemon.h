/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The daemon's state, and what its files do for each other. Private to daemon*.c.
 */
#ifndef CMD_DAEMON_H
#define CMD_DAEMON_H

#include "base/loop.h"
#include "cmd/daemon_session.h"

#include <sys/time.h>

/* A moment by both clocks. */
struct moment {
	u64 clock_ns, wall_ns; /* CLOCK_MONOTONIC, CLOCK_REALTIME */
};

/* What this process and its programs in the kernel have taken. */
struct spending {
	u64 own_ns;  /* all threads, and what is read for them elsewhere */
	u64 here_ns; /* of that by this thread, or for it */
	u64 bpf_ns;
};

/* Levels of zstd. 3 takes a quarter of the time of 6, which is 1 to 10 ms a window, for 4% to 11%
 * more. 16 gives 10% less than 6 for 20 ms, where a window is no larger than SMALL_WINDOW_BYTES
 * before. */
enum { WINDOW_LEVEL = 6, SMALL_WINDOW_LEVEL = 16, SMALL_WINDOW_BYTES = 512 << 10 };

struct daemon {
	struct session *session;
	struct store *store;
	struct confined *readers;     /* of the binaries whose names are kept */
	struct confined *file_reader; /* of those that samples lie in, for this thread */
	struct daemon_names *names;   /* NULL: they cannot be kept, which was said */
	struct daemon_sums *sums;     /* NULL: they are not made */
	struct loop *loop;
	struct machine machine; /* as each window tells it */
	struct cpus_watch *cpus;
	int timer_fd;		/* the window's end, by the wall clock */
	struct moment started;	/* the open window */
	u64 end_ns;		/* of the window that is written, CLOCK_MONOTONIC */
	bool cannot_write;	/* the last window could not be written, and that was said */
	bool cannot_keep_names; /* the same of names */
	u64 windows, watchdog_ns, watchdog_told_ns;
	struct spending spent; /* until the open window began */
	struct cpu_limit limit;
	struct spending limit_spent; /* as of the last look at it */
	u64 limit_clock_ns;
	u64 turned_ns; /* when the kernel's tables were turned last */
	u32 lowest_hz; /* in the open window */
	bool cannot_change_rate;
	bool is_calm;			/* wakes up seldom */
	bool may_connect;		/* to other machines, or be connected to */
	struct daemon_push *push;	/* NULL: nothing is pushed */
	struct daemon_metrics *metrics; /* NULL: nobody wants them */
};

/* How urgent a line is: the levels of syslog(3). */
enum log_level { LOG_LEVEL_WARNING = 4, LOG_LEVEL_INFO = 6 };

/* One line on standard error, as the journal or a person likes it. */
void daemon_log(enum log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A time span of getrusage(2) in nanoseconds. */
u64 timeval_ns(struct timeval time);
/* What was taken so far. To be asked by the thread that samples. */
struct spending daemon_spending(struct daemon *daemon);
/* Now, by both clocks. */
struct moment moment_now(void);

/* Keeps of capabilities and system calls what sampling needs, for good. To be called before there
 * is a second thread. Returns 0 or a negative errno with a sentence. */
int daemon_give_up_privileges(struct daemon *daemon);

/* Begins to hold --max-cpu, with what is spent from now on. */
void daemon_limit_cpu(struct daemon *daemon);
/* Takes --max-cpu of the session's settings, which may be another one now. */
void daemon_limit_change(struct daemon *daemon);
/* Looks at what was spent, once a second, and changes the rate if that is needed. */
void daemon_hold_limit(struct daemon *daemon, u64 clock_ns);

/* Begins a window at that moment, and sets the timer for its end. Returns 0 or a negative errno
 * with a sentence. */
int daemon_begin_window(struct daemon *daemon, struct moment start);
/* Writes the window that has ended into the store. What cannot be written is lost, counted and said
 * once; the daemon goes on. */
void daemon_write_window(struct daemon *daemon);
/* Lets the loop read what the capture has, as it comes. Returns 0 or a negative errno with a
 * sentence. */
int daemon_watch_capture(struct daemon *daemon);

/* Reads the settings again, and samples anew if that is needed. With settings that do not work it
 * goes on as it was, and says so. Returns 0, or a negative errno with a sentence if there is
 * nothing to go on with. */
int daemon_reload(struct daemon *daemon);
/* Ends the open window and goes on with another session, which is the daemon's from now on.
 * Returns as daemon_reload(). */
int daemon_sample_anew(struct daemon *daemon, struct session *fresh);

#endif
