/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is profiled: what was named, what descends from it when the recording starts, and whether
 * anybody is left.
 */
#include "capture/targets.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "capture/command.h"
#include "capture/targets_state.h"
#include "host/host.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { INITIAL_PID_NAMESPACE = 0xEFFFFFFC }; /* include/uapi/linux/nsfs.h, PID_NS_INIT_INO */

bool targets_are_limited(const struct targets *targets)
{
	const struct capture_targets *settings = targets->settings;

	return !settings->all && (settings->pid_count || settings->tid_count || settings->command);
}

/* --- who was named --- */

static void add_named(struct targets *targets, u64 key, u32 pid)
{
	*idmap_place(&targets->known, key) = NAMED;
	*vec_add(&targets->keys) = key;
	if (idmap_get(&targets->known, WANTED_PROCESS | pid))
		return;
	*idmap_place(&targets->known, WANTED_PROCESS | pid) = NAMED;
	*vec_add(&targets->pids) = pid;
}

/* The threads that a process has now; new ones are not profiled. */
static int add_threads(struct targets *targets, u32 pid)
{
	CLEANUP(closedirp) DIR *directory = NULL;
	const struct dirent *entry;
	char path[64];
	u32 tid;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	directory = opendir(path);
	if (!directory)
		return -errno;
	while ((entry = readdir(directory)))
		if (!number_parse_u32(entry->d_name, &tid))
			add_named(targets, FOLLOW_THREAD | tid, pid);
	return 0;
}

static int add_process(struct targets *targets, u32 pid)
{
	u32 leader = process_of_thread(pid);
	int error = leader ? 0 : -ESRCH;

	if (!error && leader != pid)
		return fail_plain(-EINVAL, "use -t for threads", "%u is a thread of process %u",
				  pid, leader);
	if (!error && targets->settings->no_inherit)
		error = add_threads(targets, pid);
	else if (!error)
		add_named(targets, FOLLOW_PROCESS | pid, pid);
	return error ? fail(error, "check the pid with ps", "cannot profile process %u", pid) : 0;
}

static int add_thread(struct targets *targets, u32 tid)
{
	u32 pid = process_of_thread(tid);

	if (!pid)
		return fail(-ESRCH, "check the tid with ps -L", "cannot profile thread %u", tid);
	add_named(targets, FOLLOW_THREAD | tid, pid);
	return 0;
}

static int start_command(struct targets *targets)
{
	int stdout_fd = targets->settings->stdout_is_taken ? STDERR_FILENO : STDOUT_FILENO;
	int error = command_hold(targets->settings->command, stdout_fd, &targets->command);

	if (!error)
		*idmap_place(&targets->known,
			     WANTED_PROCESS | (u32)command_pid(targets->command)) = NAMED;
	if (!error && !targets->settings->no_inherit)
		*idmap_place(&targets->known,
			     FOLLOW_PROCESS | (u32)command_pid(targets->command)) = NAMED;
	return error;
}

static void targets_freep(struct targets **targets)
{
	targets_free(*targets);
}

int targets_open(const struct capture_targets *settings, struct targets **ret_targets)
{
	CLEANUP(targets_freep) struct targets *targets = must_alloc(sizeof(*targets));
	int error = 0;

	targets->settings = settings;
	for (size_t i = 0; !error && i < settings->pid_count; i++)
		error = add_process(targets, settings->pids[i]);
	for (size_t i = 0; !error && i < settings->tid_count; i++)
		error = add_thread(targets, settings->tids[i]);
	if (!error && settings->command)
		error = start_command(targets);
	if (error)
		return error;
	*ret_targets = TAKE(targets);
	return 0;
}

void targets_free(struct targets *targets)
{
	if (!targets)
		return;
	command_free(targets->command);
	idmap_release(&targets->known);
	vec_release(&targets->keys);
	vec_release(&targets->pids);
	vec_release(&targets->ended);
	free(targets);
}

/* --- what the programs are told --- */

static u32 pid_namespace(void)
{
	struct stat status;

	if (stat("/proc/self/ns/pid", &status) || (u32)status.st_ino == INITIAL_PID_NAMESPACE)
		return 0;
	return (u32)status.st_ino;
}

int targets_describe(const struct targets *targets, struct program_settings *settings)
{
	const struct capture_targets *asked = targets->settings;

	settings->pid_namespace = pid_namespace();
	settings->has_uid = asked->has_uid;
	settings->uid = asked->uid;
	settings->has_followed = targets_are_limited(targets);
	settings->inherit = !asked->no_inherit;
	if (settings->has_followed && targets->command)
		settings->command_pid = (u32)command_pid(targets->command);
	if (asked->cgroup) {
		struct cgroup cgroup;
		int error = cgroup_open(asked->cgroup, &cgroup);

		if (error)
			return error;
		closep(&cgroup.fd);
		settings->cgroup_id = cgroup.id;
		settings->cgroup_is_v2 = cgroup.is_v2;
	}
	return 0;
}

const u64 *targets_keys(const struct targets *targets, size_t *ret_count)
{
	*ret_count = targets_are_limited(targets) ? targets->keys.count : 0;
	return targets->keys.items;
}

const u32 *targets_pids(const struct targets *targets, size_t *ret_count)
{
	static const u32 none;

	*ret_count = targets->pids.count;
	if (!targets_are_limited(targets))
		return NULL;
	return targets->pids.count ? targets->pids.items : &none;
}

int targets_start_command(struct targets *targets)
{
	return targets->command ? command_go(targets->command) : 0;
}

pid_t targets_command(const struct targets *targets)
{
	return targets->command ? command_pid(targets->command) : 0;
}

/* --- children that run already --- */

/* The children of the processes that were named, and theirs, as /proc shows them now. Who records
 * is no part of what is recorded. */
static void add_family(struct targets *targets, struct process_parent *rows, size_t count)
{
	struct idmap family = {0};

	for (size_t i = 0; i < targets->settings->pid_count; i++)
		*idmap_place(&family, targets->settings->pids[i]) = 1;
	count = processes_descending(rows, count, &family);
	for (size_t i = 0; i < count; i++)
		if (rows[i].pid != (u32)getpid())
			add_named(targets, FOLLOW_PROCESS | rows[i].pid, rows[i].pid);
	idmap_release(&family);
}

int targets_follow(struct targets *targets, const struct target_follower *follower)
{
	CLEANUP(freep) struct process_parent *rows = NULL;
	size_t count, first = targets->keys.count;
	int error;

	targets->follower = *follower;
	if (!targets->settings->pid_count || targets->settings->no_inherit)
		return 0;
	error = processes_parents(&rows, &count);
	if (error)
		return error;
	add_family(targets, rows, count);
	for (size_t i = first; i < targets->keys.count; i++)
		follower->follow(follower->context, targets->keys.items[i]);
	targets->settled_ns = clock_ns(CLOCK_MONOTONIC);
	return 0;
}

/* --- who is left --- */

/* Whether /proc no longer knows who has this key, or only for its parent to ask. The first thread
 * of a process is a zombie as long as others go on. */
static bool has_ended(u64 key)
{
	CLEANUP(freep) char *text = NULL;
	struct process_stat stat;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/stat", (u32)key);
	if (file_read(path, 4096, &text, NULL))
		return true;
	if (process_stat_parse(text, &stat))
		return false;
	return (stat.state == 'Z' || stat.state == 'X') &&
	       (stat.threads <= 1 || (key & FOLLOW_THREAD));
}

bool targets_ended(struct targets *targets, void (*gone)(void *context, u64 key), void *context)
{
	size_t kept = 0;

	if (!targets_are_limited(targets))
		return false;
	for (size_t i = 0; i < targets->keys.count; i++) {
		u64 key = targets->keys.items[i];

		if (!has_ended(key))
			targets->keys.items[kept++] = key;
		else
			gone(context, key);
	}
	targets->keys.count = kept;
	return !kept && !targets->descendants && !targets->command;
}
