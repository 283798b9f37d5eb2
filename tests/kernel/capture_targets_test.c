/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is profiled: processes, threads, children, users, cgroups, CPUs.
 */
#include "kernel/recording.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENOUGH = 60, NOBODY = 65534 };

static void burn(void)
{
	for (;;)
		__asm__ volatile("" ::: "memory");
}

static int burn_in_thread(void *unused)
{
	(void)unused;
	burn();
	return 0;
}

/* A process that burns CPU until end_process(). `prepare` runs in it first, and has done so when
 * this returns. */
static pid_t start_burning(void (*prepare)(const void *argument), const void *argument)
{
	int ready[2];
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		if (prepare)
			prepare(argument);
		if (write(ready[1], &byte, 1) == 1)
			burn();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void skip_without_permission(void)
{
	if (!may_capture())
		skip();
}

static void record_enough(struct capture_settings settings, struct recording *recording)
{
	assert_int_equal(recording_start(recording, &settings), 0);
	recording_run(recording, ENOUGH);
	recording_stop(recording);
	assert_true(recording->samples.count >= ENOUGH);
	assert_adds_up(recording);
}

static void only_the_process_asked_for_is_sampled(void **state)
{
	struct recording recording;
	pid_t other, burning;
	u32 pid;

	skip_without_permission();
	other = start_burning(NULL, NULL);
	burning = start_burning(NULL, NULL);
	pid = (u32)burning;
	record_enough((struct capture_settings){.targets = {.pids = &pid, .pid_count = 1}},
		      &recording);
	for (size_t i = 0; i < recording.samples.count; i++)
		assert_int_equal(recording.samples.items[i].pid, pid);
	assert_true(recording.totals.counters[COUNTER_skipped_target] > 0);
	recording_release(&recording);
	end_process(burning);
	end_process(other);
	(void)state;
}

static void add_burning_thread(const void *unused)
{
	enum { STACK_BYTES = 65536 };
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	(void)unused;
	clone(burn_in_thread, stack + STACK_BYTES,
	      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD, NULL);
}

static void only_the_thread_asked_for_is_sampled(void **state)
{
	struct recording recording;
	pid_t burning;
	u32 tid;

	skip_without_permission();
	burning = start_burning(add_burning_thread, NULL);
	tid = (u32)burning;
	record_enough((struct capture_settings){.targets = {.tids = &tid, .tid_count = 1}},
		      &recording);
	for (size_t i = 0; i < recording.samples.count; i++)
		assert_int_equal(recording.samples.items[i].tid, tid);
	recording_release(&recording);
	end_process(burning);
	(void)state;
}

static void become_nobody(const void *unused)
{
	(void)unused;
	if (setresuid(NOBODY, NOBODY, NOBODY))
		_exit(1);
}

static void only_the_user_asked_for_is_sampled(void **state)
{
	struct recording recording;
	pid_t burning;

	skip_without_permission();
	if (geteuid())
		skip();
	burning = start_burning(become_nobody, NULL);
	record_enough((struct capture_settings){.targets = {.has_uid = true, .uid = NOBODY}},
		      &recording);
	for (size_t i = 0; i < recording.samples.count; i++)
		assert_int_equal(recording.samples.items[i].pid, burning);
	recording_release(&recording);
	end_process(burning);
	(void)state;
}

static void enter_cgroup(const void *folder)
{
	CLEANUP(freep) char *path = must_format("%s/inner/cgroup.procs", (const char *)folder);
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, "0", 1) != 1)
		_exit(1);
	close(fd);
}

/* Where a cgroup v2 can be made, NULL if nowhere. Owned by the caller. */
static char *new_cgroup(void)
{
	static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};

	for (size_t i = 0; i < ARRAY_COUNT(mounts); i++) {
		CLEANUP(freep)
		char *control = must_format("%s/cgroup.subtree_control", mounts[i]);
		CLEANUP(freep)
		char *folder = must_format("%s/bpfprof-test-%d", mounts[i], getpid());
		CLEANUP(freep) char *inner = must_format("%s/inner", folder);

		if (!access(control, W_OK) && !mkdir(folder, 0755) && !mkdir(inner, 0755))
			return TAKE(folder);
	}
	return NULL;
}

static void remove_cgroup(const char *folder)
{
	CLEANUP(freep) char *inner = must_format("%s/inner", folder);

	rmdir(inner);
	rmdir(folder);
}

static void only_the_cgroup_asked_for_and_those_below_are_sampled(void **state)
{
	CLEANUP(freep) char *folder = NULL;
	struct recording recording;
	pid_t other, burning;

	skip_without_permission();
	folder = new_cgroup();
	if (!folder)
		skip();
	other = start_burning(NULL, NULL);
	burning = start_burning(enter_cgroup, folder);
	record_enough((struct capture_settings){.targets = {.cgroup = folder}}, &recording);
	for (size_t i = 0; i < recording.samples.count; i++)
		assert_int_equal(recording.samples.items[i].pid, burning);
	recording_release(&recording);
	end_process(burning);
	end_process(other);
	remove_cgroup(folder);
	(void)state;
}

static void only_the_cpu_asked_for_is_sampled(void **state)
{
	struct recording recording;
	u32 cpu = 0;
	cpu_set_t all, one;

	skip_without_permission();
	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	record_enough((struct capture_settings){.targets = {.cpus = &cpu, .cpu_count = 1},
						.wants_idle = true},
		      &recording);
	for (size_t i = 0; i < recording.samples.count; i++)
		assert_int_equal(recording.samples.items[i].cpu, cpu);
	recording_release(&recording);
	sched_setaffinity(0, sizeof(all), &all);
	(void)state;
}

/* Runs forky, whose children do all the work; returns how many processes had samples. */
static size_t processes_sampled(bool no_inherit)
{
	CLEANUP(freep) char *path = workload("forky");
	char *command[] = {path, "20", "30000000", NULL};
	struct idmap seen = {0};
	struct recording recording;
	struct capture_settings settings = {
		.targets = {.command = command, .no_inherit = no_inherit}};
	size_t count;

	assert_int_equal(recording_start(&recording, &settings), 0);
	recording_run(&recording, SIZE_MAX);
	recording_stop(&recording);
	assert_adds_up(&recording);
	for (size_t i = 0; i < recording.samples.count; i++)
		*idmap_place(&seen, recording.samples.items[i].pid) = 1;
	count = seen.count;
	idmap_release(&seen);
	recording_release(&recording);
	return count;
}

static void children_of_the_command_are_followed(void **state)
{
	skip_without_permission();
	assert_in_range(processes_sampled(false), 20, 21);
	(void)state;
}

static void children_are_not_followed_if_so_asked(void **state)
{
	skip_without_permission();
	assert_in_range(processes_sampled(true), 0, 1);
	(void)state;
}

static void ended_process_ends_the_recording(void **state)
{
	struct capture_settings settings;
	struct recording recording;
	pid_t burning;
	u32 pid;

	skip_without_permission();
	burning = start_burning(NULL, NULL);
	pid = (u32)burning;
	settings = (struct capture_settings){.targets = {.pids = &pid, .pid_count = 1}};
	assert_int_equal(recording_start(&recording, &settings), 0);
	assert_false(capture_targets_ended(recording.capture));
	kill(burning, SIGKILL);
	waitpid(burning, NULL, 0);
	assert_true(capture_targets_ended(recording.capture));
	recording_stop(&recording);
	assert_adds_up(&recording);
	recording_release(&recording);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_process_asked_for_is_sampled),
		cmocka_unit_test(only_the_thread_asked_for_is_sampled),
		cmocka_unit_test(only_the_user_asked_for_is_sampled),
		cmocka_unit_test(only_the_cgroup_asked_for_and_those_below_are_sampled),
		cmocka_unit_test(only_the_cpu_asked_for_is_sampled),
		cmocka_unit_test(children_of_the_command_are_followed),
		cmocka_unit_test(children_are_not_followed_if_so_asked),
		cmocka_unit_test(ended_process_ends_the_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
