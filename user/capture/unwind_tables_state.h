/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What tables there are and who asked for more, private to unwind_tables.c and unwind_ahead.c.
 */
#ifndef CAPTURE_UNWIND_TABLES_STATE_H
#define CAPTURE_UNWIND_TABLES_STATE_H

#include "base/vec.h"
#include "capture/file_paths.h"
#include "capture/known_files.h"
#include "capture/table_store.h"
#include "capture/unwind_tables.h"

enum { FILES_OPEN_MAX = 32 };

/* A file that was asked for. */
struct request {
	struct file_wanted wanted;
	int fd;		/* -1: not open yet */
	bool is_met;	/* by a stack, not only expected */
	u64 file_bytes; /* if it is open */
};

struct unwind_tables {
	struct event_sink sink;
	struct table_store *store;
	struct known_files *files;
	struct file_paths paths;
	VEC(struct request) requests;
	size_t open_count;
	int event_fd;
	bool is_told; /* that there are requests, by `event_fd` */
	enum prefetch_rule rule;
	bool is_scanned_running; /* the process that the start-up scan tells of now */
	u64 prefetch_left_ns;	 /* 0: the start is over */
	u32 prefetch_pid;	 /* 0: nobody's */
	u64 now_ns;		 /* as of the last unwind_tables_work() */
	u64 untrimmed_bytes;	 /* of files that were read since memory was given back */
	u64 counters[COUNTER_COUNT];
	struct confined *reader; /* of files; NULL: this process */
	u64 seed;		 /* of the sums of what it read */
	void (*on_file)(void *context, const struct mapping *mapping, int fd); /* NULL: nobody */
	void *file_context;
};

/* The sink of the tables. */
struct event_sink unwind_tables_learner(void);
/* Queues a request; its descriptor, if it has one, is the tables' to close. */
void unwind_tables_add_request(struct unwind_tables *tables, const struct request *request);
/* Serves requests, the smallest file first, until then (CLOCK_MONOTONIC; ~0: all). */
void unwind_tables_serve_until(struct unwind_tables *tables, u64 end_ns);

#endif
