/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who runs and what is mapped where, at the point of the event stream that has been reached.
 *
 * Follows perf's reader: forks inherit, exec keeps older mappings under the new ones, new mappings
 * cut older ones, threads share their process's mappings, exited threads stay until re-forked.
 */
#ifndef EVENT_PROCESS_TABLE_H
#define EVENT_PROCESS_TABLE_H

#include "event/event_sink.h"

struct process_table;

/* One mapped piece as the table keeps it. Strings are interned: equal paths, equal pointers. */
struct mapped {
	u64 start, end, file_offset; /* [start, end) */
	const char *path;	     /* never NULL */
	u8 space;		     /* enum frame_space */
	u8 build_id_bytes;
	u8 build_id[BUILD_ID_MAX_BYTES];
	u32 owner_pid; /* the process that mapped it first (forks inherit) */
	u32 id;	       /* 1 …; the same for all that is equal in path, build id, offset,
			* start and end */
};

/* An empty table; free with process_table_free(). */
struct process_table *process_table_new(void);
/* Frees; NULL is fine. */
void process_table_free(struct process_table *table);
/* For CLEANUP. */
void process_table_freep(struct process_table **table);

/* The sink that keeps the table up to date; lives as long as the table. Feed it before you ask. */
struct event_sink *process_table_sink(struct process_table *table);

/*
 * What `address` lies in for this process now, NULL if nothing does. SPACE_KERNEL looks at kernel
 * text, modules and kernel symbols. Borrowed until process_table_free(): rows never move or change.
 */
const struct mapped *process_table_find(struct process_table *table, u32 pid, u64 address,
					u8 space);

/* The thread's name now; ":TID" if none was seen, "swapper" for tid 0. Interned for the table's
 * life. */
const char *process_table_name(struct process_table *table, u32 pid, u32 tid);

/* How many mappings and names of processes have changed so far: while it stays the same, answers
 * for one (pid, address, space) stay the same. */
u64 process_table_generation(const struct process_table *table, u32 pid);

/* All mapped rows ever seen, ids 1 … count. */
u32 process_table_mapped_count(const struct process_table *table);
/* Row `id`, 1 … count. */
const struct mapped *process_table_mapped(const struct process_table *table, u32 id);

#endif
