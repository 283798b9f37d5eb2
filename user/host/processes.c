/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The scan of /proc: what runs now, as the events that would have told of it.
 *
 * Order as perf writes it: for each process its main thread (fork, name), its mappings, then its
 * other threads. Everything is opened relative to the process's folder, so a pid that is used anew
 * meanwhile cannot mix two processes.
 */
#include "host/processes.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/vec.h"
#include "host/proc_maps.h"
#include "host/process_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* The kernel's name of a thread has at most 15 bytes; /proc shows more for kernel workers.
 * Source: TASK_COMM_LEN in include/linux/sched.h. */
enum { NAME_BYTES = 16 };

/* A file of /proc as it was read last; kept between reads to save allocations. */
struct buffer {
	VEC(char) bytes;
};

struct scan {
	struct scan_request request;
	struct event_sink *sink;
	struct scan_result result;
	struct buffer maps, line;
};

static void scan_release(struct scan *scan)
{
	vec_release(&scan->maps.bytes);
	vec_release(&scan->line.bytes);
}

/* Reads a whole file; its text, NUL terminated, is borrowed until the next read. NULL if it cannot
 * be read: mostly because the process has ended. */
static char *read_into(struct buffer *buffer, int folder, const char *name)
{
	CLEANUP(closep) int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return NULL;
	buffer->bytes.count = 0;
	do {
		vec_reserve(&buffer->bytes, 4096);
		got = read(fd, buffer->bytes.items + buffer->bytes.count,
			   buffer->bytes.capacity - buffer->bytes.count - 1);
		if (got < 0 && errno != EINTR)
			return NULL;
		if (got > 0)
			buffer->bytes.count += (size_t)got;
	} while (got != 0);
	buffer->bytes.items[buffer->bytes.count] = 0;
	return buffer->bytes.items;
}

static int tell_name(struct scan *scan, u32 pid, u32 tid, const char *name)
{
	char cut[NAME_BYTES] = {0};
	struct thread_name event = {
		.time_ns = scan->request.time_ns,
		.pid = pid,
		.tid = tid,
		.name = cut,
	};

	strncpy(cut, name, sizeof(cut) - 1);
	return sink_call(scan->sink, on_name, &event);
}

static struct thread_life life_of(const struct scan *scan, u32 pid, u32 tid, u32 parent)
{
	return (struct thread_life){
		.time_ns = scan->request.time_ns,
		.pid = pid,
		.tid = tid,
		.parent_pid = parent,
		.parent_tid = parent,
		.is_synthesized = true,
	};
}

/* The process's main thread. Returns 0, what the sink returned, or 1 if it is gone. */
static int scan_leader(struct scan *scan, int folder, u32 pid)
{
	CLEANUP(freep) char *path = must_format("task/%u/stat", pid);
	/* The one in task/ does not add up the times of all threads. */
	char *text = read_into(&scan->line, folder, path);
	struct process_stat stat;
	struct thread_life life;
	int error;

	if (!text || process_stat_parse(text, &stat))
		return 1;
	life = life_of(scan, pid, pid, stat.parent);
	life.is_running = stat.state == 'R';
	scan->result.threads++;
	error = sink_call(scan->sink, on_fork, &life);
	return error ? error : tell_name(scan, pid, pid, stat.name);
}

/* Another thread: its parent is the main thread, as in perf. One that is gone is passed over. */
static int scan_thread(struct scan *scan, int tasks, u32 pid, u32 tid)
{
	struct thread_life life = life_of(scan, pid, tid, pid);
	CLEANUP(freep) char *path = must_format("%u/comm", tid);
	char *name = read_into(&scan->line, tasks, path);
	size_t length = scan->line.bytes.count;
	int error;

	if (!name)
		return 0;
	if (length && name[length - 1] == '\n')
		name[length - 1] = 0;
	scan->result.threads++;
	error = sink_call(scan->sink, on_fork, &life);
	return error ? error : tell_name(scan, pid, tid, name);
}

static int scan_threads(struct scan *scan, int folder, u32 pid)
{
	int fd = openat(folder, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(closedirp) DIR *tasks = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int error = 0;
	u32 tid;

	while (tasks && !error && (entry = readdir(tasks)))
		if (!number_parse_u32(entry->d_name, &tid) && tid != pid)
			error = scan_thread(scan, dirfd(tasks), pid, tid);
	return error;
}

static int scan_mappings(struct scan *scan, int folder, u32 pid, const char *maps)
{
	char path[MAPS_PATH_BYTES];
	struct mapping mapping;
	struct bytes text = {(const u8 *)maps, maps ? scan->maps.bytes.count : 0};
	int found;

	while ((found = proc_maps_next(&text, pid, path, &mapping))) {
		int error;

		if (found < 0)
			continue;
		mapping.time_ns = scan->request.time_ns;
		file_ids_fill(scan->request.files, folder, &mapping);
		scan->result.mappings++;
		error = sink_call(scan->sink, on_mapping, &mapping);
		if (error)
			return error;
	}
	return 0;
}

static int scan_process(struct scan *scan, int proc, u32 pid)
{
	CLEANUP(freep) char *name = must_format("%u", pid);
	CLEANUP(closep) int folder = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *maps;
	int error;

	if (folder < 0)
		return 0;
	maps = read_into(&scan->maps, folder, "maps");
	if (!maps && scan->request.time_ns)
		return 0;
	error = scan_leader(scan, folder, pid);
	if (error)
		return error < 0 ? error : 0;
	scan->result.processes++;
	scan->result.unreadable += !maps;
	error = scan_mappings(scan, folder, pid, maps);
	return error ? error : scan_threads(scan, folder, pid);
}

static int scan_all(struct scan *scan, DIR *proc)
{
	const struct dirent *entry;
	int error = 0;
	u32 pid;

	while (!error && (entry = readdir(proc)))
		if (!number_parse_u32(entry->d_name, &pid))
			error = scan_process(scan, dirfd(proc), pid);
	return error;
}

int processes_scan(const struct scan_request *request, struct event_sink *sink,
		   struct scan_result *ret_result)
{
	CLEANUP(scan_release) struct scan scan = {.request = *request, .sink = sink};
	CLEANUP(closedirp) DIR *proc = opendir("/proc");
	int error = 0;

	if (!proc)
		return fail(-errno, "mount proc on /proc", "cannot see which processes run");
	if (request->pids)
		for (size_t i = 0; i < request->pid_count && !error; i++)
			error = scan_process(&scan, dirfd(proc), request->pids[i]);
	else
		error = scan_all(&scan, proc);
	if (error)
		return error;
	*ret_result = scan.result;
	return 0;
}
