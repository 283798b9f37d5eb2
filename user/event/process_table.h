/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who runs and what is mapped where, at the point of the event stream that has been reached.
 *
 * Follows perf's reader: forks inherit, new mappings cut older ones (also after exec), threads
 * share their process's mappings. Unlike perf 6.1, what a process left behind goes a second (of
 * event time) after its last thread has ended, so memory follows what lives.
 */
#ifndef EVENT_PROCESS_TABLE_H
#define EVENT_PROCESS_TABLE_H

#include "event/event_sink.h"

struct process_table;
struct address_space;

/* A file (or other thing) that was mapped; one row for each distinct (path, build id, space), and
 * inode where there is no build id, in a table of code always. Rows never move or change until
 * process_table_free(), or process_table_forget_files(). */
struct mapped_file {
	const char *path; /* as its process saw it; of kernel symbols: their name */
	/* As far as the mapping told. With a build id only in a table of code; else 0. */
	u64 inode;
	u32 major, minor, inode_generation;
	u32 id;	  /* 1 … */
	u8 space; /* enum frame_space */
	bool is_kernel_symbol;
	u8 build_id_bytes; /* 0: unknown */
	u8 build_id[BUILD_ID_MAX_BYTES];
};

/* One mapped piece, [start, end). */
struct mapped {
	u64 start, end, file_offset; /* file_offset: of `start`; see struct mapping */
	u32 owner_pid;		     /* the process that mapped it (forks inherit) */
	bool is_data;		     /* no code runs there */
	bool is_shared;		     /* writes are seen by others who map the file */
	u16 execs;		     /* how many programs it had executed by then; wraps */
	const struct mapped_file *file;
};

/* An empty table; free with process_table_free(). */
struct process_table *process_table_new(void);
/* One that only knows mappings of user code, and tells files of one path apart by their inodes even
 * if they have build ids. It knows no names of threads. */
struct process_table *process_table_new_of_code(void);
/*
 * Forgets the files that no process has mapped any more, for tables that live for months. Nothing
 * may be held (process_table_hold()); files that stay get other ids. Does so only if it is worth
 * it: when there are many, and twice as many as stayed the last time.
 * Returns whether it did.
 */
bool process_table_forget_files(struct process_table *table);
/* Frees; NULL is fine. */
void process_table_free(struct process_table *table);

/* The sink that keeps the table up to date; lives as long as the table. Feed it before you ask. */
struct event_sink *process_table_sink(struct process_table *table);

/*
 * What `address` lies in for this process now, NULL if nothing does. SPACE_KERNEL looks at kernel
 * text, modules and kernel symbols. Borrowed until the next event.
 */
const struct mapped *process_table_find(const struct process_table *table, u32 pid, u64 address,
					u8 space);

/* The mappings of a process as they are now, for looking at them later; NULL: none are known. Give
 * them back with process_table_let_go(). */
struct address_space *process_table_hold(const struct process_table *table, u32 pid);
/* NULL is fine. */
void process_table_let_go(struct address_space *held);
/* What `address` lies in there, NULL if nothing does. Lives as long as `held`, its file as long as
 * the table. */
const struct mapped *process_table_find_held(const struct address_space *held, u64 address);
/* Whether nothing lies in these bytes there; NULL is fine, as in the next. */
bool process_table_is_free_held(const struct address_space *held, u64 start, u64 bytes);
/* Calls for each mapping of a file that is there, in order of addresses, but for those that were
 * left behind by a program that the process executed before. */
void process_table_each_held(const struct address_space *held, u32 file,
			     void (*take)(void *context, const struct mapped *mapped),
			     void *context);

/* The thread's name now; ":TID" if none was seen, "swapper" for tid 0. Lives as long as the table;
 * equal names, equal pointers. */
const char *process_table_name(struct process_table *table, u32 tid);

/* Hears what is about to change, as long as nothing has. It may ask the table, not feed it. */
struct process_watcher {
	/* The mappings of a process: not told of one that begins with some, or with none. */
	void (*before_space)(struct process_watcher *self, u32 pid);
	/* The name of a thread. */
	void (*before_name)(struct process_watcher *self, u32 tid);
};

/* From now on `watcher` hears, which is borrowed. What is of the kernel it does not. */
void process_table_watch(struct process_table *table, struct process_watcher *watcher);

/* A number that changes whenever a mapping that this process can see in this space does; the same
 * for processes that share their mappings (fork without exec). Never 0. */
u64 process_table_generation(const struct process_table *table, u32 pid, u8 space);

#endif
