/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is profiled: processes, threads, users, cgroups, CPUs.
 */
#include "kernel/burning.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* Nobody else is that. (Nobody itself runs what reads binaries for a daemon, for one.) */
enum { NOBODY_ELSE = 2000000000 };

static int burn_in_thread(void *unused)
{
	(void)unused;
	burn();
	return 0;
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

static void become_somebody(const void *unused)
{
	(void)unused;
	if (setresuid(NOBODY_ELSE, NOBODY_ELSE, NOBODY_ELSE))
		_exit(1);
}

static void only_the_user_asked_for_is_sampled(void **state)
{
	struct recording recording;
	pid_t burning;

	skip_without_permission();
	if (geteuid())
		skip();
	burning = start_burning(become_somebody, NULL);
	record_enough((struct capture_settings){.targets = {.has_uid = true, .uid = NOBODY_ELSE}},
		      &recording);
	for (size_t i = 0; i < recording.samples.count; i++)
		assert_int_equal(recording.samples.items[i].pid, burning);
	recording_release(&recording);
	end_process(burning);
	(void)state;
}

static void enter_cgroup(const void *group)
{
	CLEANUP(freep) char *path = must_format("%s/cgroup.procs", (const char *)group);
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

/* Records what runs in a cgroup: only `burning` does, in the cgroup of this folder. */
static void record_cgroup(const char *asked, pid_t burning, const char *folder)
{
	struct recording recording;
	struct stat status;

	record_enough(
		(struct capture_settings){.targets = {.cgroup = asked}, .wants_cgroups = true},
		&recording);
	assert_int_equal(stat(folder, &status), 0);
	for (size_t i = 0; i < recording.samples.count; i++) {
		assert_int_equal(recording.samples.items[i].pid, burning);
		assert_int_equal(recording.samples.items[i].cgroup, status.st_ino);
	}
	recording_release(&recording);
}

static void only_the_cgroup_asked_for_and_those_below_are_sampled(void **state)
{
	CLEANUP(freep) char *folder = NULL, *inner = NULL;
	pid_t other, burning;

	skip_without_permission();
	folder = new_cgroup();
	if (!folder)
		skip();
	inner = must_format("%s/inner", folder);
	other = start_burning(NULL, NULL);
	burning = start_burning(enter_cgroup, inner);
	record_cgroup(folder, burning, inner);
	end_process(burning);
	end_process(other);
	rmdir(inner);
	rmdir(folder);
	(void)state;
}

/* Unmounts the tree so that the kernel takes it down and cgroup v2 has the controller back: it
 * keeps a tree whose groups are not all gone yet, and they go in the background. */
static void unmount_v1_tree(const char *mount_point)
{
	unsigned int hierarchy, groups = 2;
	char line[256];

	while (groups > 1) {
		CLEANUP(fclosep) FILE *file = fopen("/proc/cgroups", "re");

		groups = 1;
		while (file && fgets(line, sizeof(line), file))
			if (sscanf(line, "perf_event %u %u", &hierarchy, &groups) == 2)
				break;
		sched_yield();
	}
	umount(mount_point);
	rmdir(mount_point);
}

static void only_the_cgroup_of_the_old_perf_event_tree_is_sampled(void **state)
{
	char mount_point[] = "/tmp/bpfprof-test-XXXXXX";
	CLEANUP(freep) char *group = NULL;
	pid_t other, burning;

	skip_without_permission();
	assert_non_null(mkdtemp(mount_point));
	group = must_format("%s/group", mount_point);
	if (mount("none", mount_point, "cgroup", 0, "perf_event") || mkdir(group, 0755)) {
		rmdir(mount_point);
		skip();
	}
	other = start_burning(NULL, NULL);
	burning = start_burning(enter_cgroup, group);
	record_cgroup(group, burning, group);
	end_process(burning);
	end_process(other);
	rmdir(group);
	unmount_v1_tree(mount_point);
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
		cmocka_unit_test(only_the_cgroup_of_the_old_perf_event_tree_is_sampled),
		cmocka_unit_test(only_the_cpu_asked_for_is_sampled),
		cmocka_unit_test(ended_process_ends_the_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
