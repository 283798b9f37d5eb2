/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is profiled. The BPF programs decide it for samples; here it is decided for what the kernel
 * tells about processes, and whether anybody is left.
 */
#include "capture/targets.h"

#include "base/fail.h"
#include "base/file.h"
#include "base/idmap.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/vec.h"
#include "capture/command.h"
#include "host/host.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Keys of the map `known`: those of the programs, and this one for processes whose records are
 * wanted, be it for one of their threads. */
#define WANTED_PROCESS (2ULL << 32)

enum known_as { NAMED = 1, DESCENDANT };

enum {
	INITIAL_PID_NAMESPACE = 0xEFFFFFFC, /* include/uapi/linux/nsfs.h, PID_NS_INIT_INO */
	LINGER_NS = 1000000000,
};

/* A process whose first thread has ended: over, unless another thread has called exec() and takes
 * its place, or goes on without it. */
struct ended_process {
	u32 pid;
	u64 time_ns;
};

struct targets {
	struct event_sink front;
	struct event_sink *next;
	const struct capture_targets *settings;
	struct command *command;
	VEC(u64) keys; /* of who was named and has not ended */
	VEC(u32) pids; /* of them */
	struct idmap known;
	u64 descendants; /* alive */
	VEC(struct ended_process) ended;
};

static bool is_limited(const struct targets *targets)
{
	const struct capture_targets *settings = targets->settings;

	return !settings->all && (settings->pid_count || settings->tid_count || settings->command);
}

/* --- who was named --- */

/* The process that a thread belongs to. */
static int process_of_thread(u32 tid, u32 *ret_pid)
{
	CLEANUP(freep) char *text = NULL;
	char path[64];
	const char *line;
	int error;

	snprintf(path, sizeof(path), "/proc/%u/status", tid);
	error = file_read(path, 65536, &text, NULL);
	if (error)
		return error == -ENOENT ? -ESRCH : error;
	line = strstr(text, "\nTgid:");
	if (!line)
		return -ESRCH;
	*ret_pid = (u32)strtoul(line + strlen("\nTgid:"), NULL, 10);
	return 0;
}

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
	u32 leader = 0;
	int error = process_of_thread(pid, &leader);

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
	u32 pid;
	int error = process_of_thread(tid, &pid);

	if (error)
		return fail(error, "check the tid with ps -L", "cannot profile thread %u", tid);
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
	settings->has_followed = is_limited(targets);
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
	*ret_count = is_limited(targets) ? targets->keys.count : 0;
	return targets->keys.items;
}

const u32 *targets_pids(const struct targets *targets, size_t *ret_count)
{
	static const u32 none;

	*ret_count = targets->pids.count;
	if (!is_limited(targets))
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

/* --- what the kernel tells, and who is left --- */

static bool is_wanted(const struct targets *targets, u32 pid)
{
	return idmap_get(&targets->known, WANTED_PROCESS | pid);
}

static struct targets *targets_of(struct event_sink *front)
{
	return (struct targets *)front; /* its first member */
}

static int pass_mapping(struct event_sink *self, const struct mapping *mapping)
{
	struct targets *targets = targets_of(self);

	if (mapping->space == SPACE_USER && !is_wanted(targets, mapping->pid))
		return 0;
	return sink_call(targets->next, on_mapping, mapping);
}

static int pass_name(struct event_sink *self, const struct thread_name *name)
{
	struct targets *targets = targets_of(self);

	if (!is_wanted(targets, name->pid))
		return 0;
	for (size_t i = 0; name->is_exec && i < targets->ended.count; i++)
		if (targets->ended.items[i].pid == name->pid)
			targets->ended.items[i].pid = 0;
	return sink_call(targets->next, on_name, name);
}

static void add_descendant(struct targets *targets, u64 key)
{
	u32 *place = idmap_place(&targets->known, key);

	if (!*place)
		targets->descendants++;
	if (*place != NAMED)
		*place = DESCENDANT;
}

static void follow(struct targets *targets, const struct thread_life *life)
{
	bool is_thread = life->pid == life->parent_pid;

	if (idmap_get(&targets->known, FOLLOW_THREAD | life->parent_tid))
		add_descendant(targets,
			       is_thread ? FOLLOW_THREAD | life->tid : FOLLOW_PROCESS | life->pid);
	else if (!is_thread && idmap_get(&targets->known, FOLLOW_PROCESS | life->parent_pid))
		add_descendant(targets, FOLLOW_PROCESS | life->pid);
	if (idmap_get(&targets->known, FOLLOW_PROCESS | life->pid))
		*idmap_place(&targets->known, WANTED_PROCESS | life->pid) = DESCENDANT;
}

static int pass_fork(struct event_sink *self, const struct thread_life *life)
{
	struct targets *targets = targets_of(self);

	if (!targets->settings->no_inherit && !life->is_synthesized)
		follow(targets, life);
	return is_wanted(targets, life->pid) ? sink_call(targets->next, on_fork, life) : 0;
}

static void forget_descendant(struct targets *targets, u64 key)
{
	if (idmap_get(&targets->known, key) != DESCENDANT)
		return;
	idmap_remove(&targets->known, key);
	targets->descendants--;
}

static int pass_exit(struct event_sink *self, const struct thread_life *life)
{
	struct targets *targets = targets_of(self);

	if (!is_wanted(targets, life->pid))
		return 0;
	forget_descendant(targets, FOLLOW_THREAD | life->tid);
	if (life->pid == life->tid)
		*vec_add(&targets->ended) = (struct ended_process){.pid = life->pid,
								   .time_ns = life->time_ns};
	return sink_call(targets->next, on_exit, life);
}

static void forget_ended(struct targets *targets, u64 before_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < targets->ended.count; i++) {
		struct ended_process ended = targets->ended.items[i];

		if (ended.pid && ended.time_ns >= before_ns) {
			targets->ended.items[kept++] = ended;
		} else if (ended.pid) {
			forget_descendant(targets, FOLLOW_PROCESS | ended.pid);
			if (idmap_get(&targets->known, WANTED_PROCESS | ended.pid) == DESCENDANT)
				idmap_remove(&targets->known, WANTED_PROCESS | ended.pid);
		}
	}
	targets->ended.count = kept;
}

static int pass_round(struct event_sink *self, u64 time_ns)
{
	struct targets *targets = targets_of(self);

	forget_ended(targets, time_ns > LINGER_NS ? time_ns - LINGER_NS : 0);
	return sink_call(targets->next, on_round, time_ns);
}

static int pass_sample(struct event_sink *self, const struct sample *sample)
{
	return sink_call(targets_of(self)->next, on_sample, sample);
}

static int pass_kernel_symbol(struct event_sink *self, const struct kernel_symbol *symbol)
{
	return sink_call(targets_of(self)->next, on_kernel_symbol, symbol);
}

static int pass_bpf_program(struct event_sink *self, const struct bpf_program *program)
{
	return sink_call(targets_of(self)->next, on_bpf_program, program);
}

static int pass_cgroup(struct event_sink *self, const struct cgroup_name *cgroup)
{
	return sink_call(targets_of(self)->next, on_cgroup, cgroup);
}

static int pass_loss(struct event_sink *self, const struct loss *loss)
{
	return sink_call(targets_of(self)->next, on_loss, loss);
}

static int pass_end(struct event_sink *self)
{
	struct event_sink *next = targets_of(self)->next;

	return next->on_end ? next->on_end(next) : 0;
}

struct event_sink *targets_sink(struct targets *targets, struct event_sink *next)
{
	if (!is_limited(targets))
		return next;
	targets->next = next;
	targets->front = (struct event_sink){
		.on_sample = pass_sample,
		.on_mapping = pass_mapping,
		.on_name = pass_name,
		.on_fork = pass_fork,
		.on_exit = pass_exit,
		.on_kernel_symbol = pass_kernel_symbol,
		.on_bpf_program = pass_bpf_program,
		.on_cgroup = pass_cgroup,
		.on_loss = pass_loss,
		.on_round = pass_round,
		.on_end = pass_end,
	};
	return &targets->front;
}

/* Whether /proc no longer knows who has this key, or only for its parent to ask. The first thread
 * of a process is a zombie as long as others go on. */
static bool has_ended(u64 key)
{
	CLEANUP(freep) char *text = NULL;
	char path[64], state;
	const char *behind_name;
	long threads;

	snprintf(path, sizeof(path), "/proc/%u/stat", (u32)key);
	if (file_read(path, 4096, &text, NULL))
		return true;
	behind_name = strrchr(text, ')');
	/* Source: proc(5): state is field 3, num_threads field 20. */
	if (!behind_name ||
	    sscanf(behind_name,
		   ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld",
		   &state, &threads) != 2)
		return false;
	return (state == 'Z' || state == 'X') && (threads <= 1 || (key & FOLLOW_THREAD));
}

bool targets_ended(struct targets *targets, void (*gone)(void *context, u64 key), void *context)
{
	size_t kept = 0;

	if (!is_limited(targets))
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
