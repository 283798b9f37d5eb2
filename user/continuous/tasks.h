/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who runs, under which name, and what is mapped: now, and at any time of the window that is open.
 * Private to the folder.
 *
 * Samples are asked about after the fact: counted ones come when their window ends. So what ends or
 * changes is kept until tasks_turn(), and everything is looked up by time.
 *
 * Rows are numbers from 1 and hold until tasks_turn().
 */
#ifndef CONTINUOUS_TASKS_H
#define CONTINUOUS_TASKS_H

#include "continuous/images.h"
#include "continuous/seen_files.h"

struct tasks;

enum { TASK_NAME_BYTES = 16 }; /* TASK_COMM_LEN of include/linux/sched.h */

/* A thread, from its fork to its end. */
struct task_life {
	u32 pid, tid, parent_pid, parent_tid;
	u64 start_ns, end_ns; /* 0: before the recording; it lives */
	u32 name;	      /* its newest, 0: none was seen */
	u32 process;	      /* row, to tell processes of one pid apart */
	u32 previous;	      /* life of the same tid, 0: none is known */
};

/* A name that a thread had. */
struct task_name {
	u64 time_ns;  /* since when; 0: before the recording */
	u32 previous; /* 0: none before */
	bool is_exec;
	char text[TASK_NAME_BYTES];
};

/* Without anything in it; `files` is borrowed. Free with tasks_free(). */
struct tasks *tasks_new(struct seen_files *files);
/* NULL is fine. */
void tasks_free(struct tasks *tasks);

/* A thread began. */
void tasks_fork(struct tasks *tasks, const struct thread_life *life);
/* A thread ended. */
void tasks_exit(struct tasks *tasks, const struct thread_life *life);
/* A thread has a name. */
void tasks_rename(struct tasks *tasks, const struct thread_name *name);
/* A process mapped something (of user space). */
void tasks_map(struct tasks *tasks, const struct mapping *mapping);

/* The life of a thread at that time; made if nothing was heard of it. */
u32 tasks_find(struct tasks *tasks, u32 pid, u32 tid, u64 time_ns);
/* One life. Borrowed until the next change. */
const struct task_life *tasks_life(const struct tasks *tasks, u32 life);
/* The name that it had at that time, 0: none is known. */
u32 tasks_name_at(const struct tasks *tasks, u32 life, u64 time_ns);
/* One name. Borrowed until the next change. */
const struct task_name *tasks_name(const struct tasks *tasks, u32 name);
/* What `address` lay in for that thread then; NULL: nothing known. Borrowed until the next change.
 * ret_around  what lies around it for which the answer is the same */
const struct piece *tasks_piece_at(const struct tasks *tasks, u32 life, u64 address, u64 time_ns,
				   struct span *ret_around);

/* Forgets what ended before `keep_ns`, and which names and mappings came before others. */
void tasks_turn(struct tasks *tasks, u64 keep_ns);
/* Lets those end of whom `is_alive` does not know: records of their ends were lost. */
void tasks_end_unless(struct tasks *tasks, bool (*is_alive)(u32 pid, u32 tid), u64 now_ns);
/* Marks the files that are mapped as ones that stay: seen_files_count(). */
void tasks_count_files(struct tasks *tasks);
/* The files got new numbers: those that `old` says. */
void tasks_renumber_files(struct tasks *tasks, struct seen_files *old);

/* When the process of a thread was forked; 0: before the recording. */
u64 tasks_process_start(const struct tasks *tasks, u32 life);
/* How many threads are known. */
u64 tasks_threads(const struct tasks *tasks);
/* About as much memory as all of it takes. */
u64 tasks_bytes(const struct tasks *tasks);

#endif
