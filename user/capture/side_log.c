/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One long piece of memory: each record behind the number of its process. Forks and ends of
 * processes are followed while they are kept, so that telling them is a look at that number.
 */
#include "capture/side_log.h"

#include "base/idmap.h"
#include "base/memory.h"
#include "base/vec.h"

#include <linux/perf_event.h>
#include <string.h>

/* In front of each record, which it leaves 8-byte aligned. */
struct kept_head {
	u32 process; /* its row + 1; 0: of one that began before */
	u32 bytes;
};

/* A process that began in what is kept. */
struct short_life {
	u32 pid, threads; /* that live */
	u64 end_ns;	  /* of the last thread that ended */
	bool is_told;
	bool is_living; /* or one that inherited from it */
};

/* A process's beginning, for telling who made whom. */
struct kept_fork {
	u32 process, parent; /* rows + 1; 0: began before */
};

struct side_log {
	struct event_sink samples;
	struct idmap sampled; /* pids that had samples → 1 */
	struct idmap rows;    /* pid → row + 1 of its newest process */
	VEC(struct short_life) processes;
	VEC(struct kept_fork) forks;
	VEC(u8) bytes;
	u32 last_pid, last_row; /* whose record was kept last; its row + 1. No row: nobody's */
};

/* The bodies of the records that are kept begin alike; those of forks and ends have all of it.
 * Source: include/uapi/linux/perf_event.h, enum perf_event_type. */
struct record_start {
	struct perf_event_header header;
	u32 pid, parent_pid, tid, parent_tid;
};

static int note_sample(struct event_sink *sink, const struct sample *sample)
{
	struct side_log *log = (struct side_log *)sink; /* it is the first member */

	*idmap_place(&log->sampled, sample->pid) = 1;
	return 0;
}

struct side_log *side_log_new(void)
{
	struct side_log *log = must_alloc(sizeof(*log));

	log->samples = (struct event_sink){.on_sample = note_sample};
	return log;
}

static void forget_records(struct side_log *log)
{
	idmap_release(&log->rows);
	log->last_row = 0;
	log->processes.count = 0;
	log->forks.count = 0;
	log->bytes.count = 0;
}

void side_log_free(struct side_log *log)
{
	if (!log)
		return;
	forget_records(log);
	idmap_release(&log->sampled);
	vec_release(&log->processes);
	vec_release(&log->forks);
	vec_release(&log->bytes);
	free(log);
}

struct event_sink *side_log_samples(struct side_log *log)
{
	return &log->samples;
}

u64 side_log_bytes(const struct side_log *log)
{
	return log->bytes.count;
}

/* --- keeping --- */

static void begin_process(struct side_log *log, const struct record_start *fork)
{
	u32 parent = idmap_get(&log->rows, fork->parent_pid);
	u32 *place = idmap_place(&log->rows, fork->pid);

	*vec_add(&log->processes) = (struct short_life){.pid = fork->pid, .threads = 1};
	*place = (u32)log->processes.count;
	*vec_add(&log->forks) = (struct kept_fork){*place, parent};
	log->last_row = 0;
}

/* The row + 1 of a process that began in what is kept. Mostly it is the last one's: who executes a
 * program maps a dozen files. */
static u32 row_of(struct side_log *log, u32 pid)
{
	if (!log->last_row || log->last_pid != pid) {
		log->last_pid = pid;
		log->last_row = idmap_get(&log->rows, pid);
	}
	return log->last_row;
}

static void follow(struct side_log *log, const struct record_start *start, u64 time_ns)
{
	u32 row = row_of(log, start->pid);
	struct short_life *process = row ? &log->processes.items[row - 1] : NULL;

	if (start->header.type == PERF_RECORD_FORK && start->pid == start->tid) {
		begin_process(log, start);
	} else if (process && start->header.type == PERF_RECORD_FORK) {
		process->threads++;
	} else if (process && process->threads && start->header.type == PERF_RECORD_EXIT) {
		process->threads--;
		process->end_ns = time_ns;
	}
}

static bool is_of_process(u32 type)
{
	return type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2 || type == PERF_RECORD_COMM ||
	       type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT;
}

bool side_log_keep(struct side_log *log, const void *record, size_t bytes)
{
	struct record_start start = {0};
	struct kept_head head = {.bytes = (u32)bytes};

	memcpy(&start, record, bytes < sizeof(start) ? bytes : sizeof(start));
	if (!is_of_process(start.header.type))
		return false;
	if (start.header.type == PERF_RECORD_FORK || start.header.type == PERF_RECORD_EXIT)
		follow(log, &start, side_band_time(record, bytes));
	head.process = row_of(log, start.pid);
	vec_reserve(&log->bytes, sizeof(head) + bytes);
	memcpy(log->bytes.items + log->bytes.count, &head, sizeof(head));
	memcpy(log->bytes.items + log->bytes.count + sizeof(head), record, bytes);
	log->bytes.count += sizeof(head) + bytes;
	return true;
}

/* --- telling --- */

/* Who made a process that is told of, or lives, counts as such, too: what it had mapped was
 * inherited. A process's parent began before it, so the newest come first. */
static void choose(struct side_log *log, u64 known_ns)
{
	for (size_t i = 0; i < log->processes.count; i++) {
		struct short_life *process = &log->processes.items[i];

		process->is_living = process->threads || process->end_ns >= known_ns;
		process->is_told = process->is_living || idmap_get(&log->sampled, process->pid);
	}
	for (size_t i = log->forks.count; i-- > 0;) {
		const struct kept_fork *fork = &log->forks.items[i];
		const struct short_life *child = &log->processes.items[fork->process - 1];
		struct short_life *parent;

		if (!fork->parent)
			continue;
		parent = &log->processes.items[fork->parent - 1];
		parent->is_told |= child->is_told;
		parent->is_living |= child->is_living;
	}
}

static int tell(struct side_log *log, bool is_all, side_log_take *take, void *context)
{
	static const struct short_life before = {.is_told = true, .is_living = true};
	int error = 0;

	for (size_t at = 0; at < log->bytes.count && !error;) {
		const u8 *kept = log->bytes.items + at;
		const struct short_life *process = &before;
		struct kept_head head;

		memcpy(&head, kept, sizeof(head));
		if (head.process && !is_all)
			process = &log->processes.items[head.process - 1];
		if (process->is_told)
			error = take(context, kept + sizeof(head), head.bytes, !process->is_living);
		at += sizeof(head) + head.bytes;
	}
	forget_records(log);
	return error;
}

int side_log_tell_all(struct side_log *log, side_log_take *take, void *context)
{
	return tell(log, true, take, context);
}

int side_log_tell_sampled(struct side_log *log, u64 known_ns, side_log_take *take, void *context)
{
	choose(log, known_ns);
	idmap_release(&log->sampled);
	return tell(log, false, take, context);
}
