/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What descends from who is profiled: born before, while and after the recording starts.
 */
#include "kernel/burning.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

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

/* A process whose child's child burns. Returns it, and by `ret_grandchild` the one that burns. */
static pid_t start_family(u32 *ret_grandchild)
{
	int told[2];
	pid_t parent;

	assert_int_equal(pipe(told), 0);
	parent = fork();
	if (!parent && !fork()) {
		pid_t grandchild;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		grandchild = start_burning(NULL, NULL);
		if (write(told[1], &grandchild, sizeof(grandchild)) < 0)
			_exit(1);
		pause();
	}
	if (!parent)
		pause();
	assert_int_equal(read(told[0], ret_grandchild, sizeof(pid_t)), sizeof(pid_t));
	close(told[0]);
	close(told[1]);
	return parent;
}

/* Records a process that burns and one whose grandchild does; returns the samples of that. */
static size_t samples_of_grandchild(bool no_inherit)
{
	struct recording recording;
	u32 grandchild = 0;
	pid_t parent = start_family(&grandchild), burning = start_burning(NULL, NULL);
	u32 pids[] = {(u32)parent, (u32)burning};
	size_t count = 0;

	record_enough(
		(struct capture_settings){
			.targets = {.pids = pids, .pid_count = 2, .no_inherit = no_inherit}},
		&recording);
	for (size_t i = 0; i < recording.samples.count; i++) {
		count += recording.samples.items[i].pid == grandchild;
		assert_true(recording.samples.items[i].pid == grandchild ||
			    recording.samples.items[i].pid == (u32)burning);
	}
	recording_release(&recording);
	kill((pid_t)grandchild, SIGKILL);
	end_process(burning);
	end_process(parent);
	return count;
}

static void children_that_run_already_are_followed(void **state)
{
	skip_without_permission();
	assert_true(samples_of_grandchild(false) > 0);
	(void)state;
}

static void children_that_run_already_are_not_followed_if_so_asked(void **state)
{
	skip_without_permission();
	assert_int_equal(samples_of_grandchild(true), 0);
	(void)state;
}

enum { BROOD_MAX = 300, FORK_EVERY_NS = 2000000, WORK_NS = 10000000 };

/* Shared with a process that forks all the time. */
struct brood {
	volatile bool is_enough;
	volatile u32 count;
	pid_t pids[BROOD_MAX];
	int gate[2]; /* closed: they may work */
};

static void spin(clockid_t clock, u64 ns)
{
	struct timespec start, now;

	clock_gettime(clock, &start);
	do
		clock_gettime(clock, &now);
	while ((u64)(now.tv_sec - start.tv_sec) * 1000000000 + (u64)now.tv_nsec <
	       (u64)start.tv_nsec + ns);
}

/* A child that runs already when the recording starts, and forks meanwhile. */
static void breed(struct brood *brood)
{
	char byte;

	close(brood->gate[1]);
	while (!brood->is_enough && brood->count < BROOD_MAX) {
		pid_t pid = fork();

		if (!pid) {
			if (read(brood->gate[0], &byte, 1) == 0)
				spin(CLOCK_PROCESS_CPUTIME_ID, WORK_NS);
			_exit(0);
		}
		brood->pids[brood->count++] = pid;
		spin(CLOCK_MONOTONIC, FORK_EVERY_NS);
	}
	while (wait(NULL) > 0)
		;
	_exit(0);
}

static pid_t start_breeding(struct brood *brood)
{
	pid_t parent;

	assert_int_equal(pipe(brood->gate), 0);
	parent = fork();
	if (parent)
		return parent;
	if (!fork())
		breed(brood);
	close(brood->gate[0]);
	close(brood->gate[1]);
	wait(NULL);
	_exit(0);
}

static void run_until_ended(struct recording *recording, pid_t parent)
{
	struct pollfd ready = {.fd = capture_fd(recording->capture), .events = POLLIN};

	do {
		poll(&ready, 1, 50);
		assert_int_equal(capture_drain(recording->capture), 0);
	} while (!waitpid(parent, NULL, WNOHANG));
}

static void children_born_while_the_recording_starts_are_followed(void **state)
{
	struct brood *brood = mmap(NULL, sizeof(*brood), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct recording recording;
	struct capture_settings settings;
	struct idmap seen = {0};
	pid_t parent;
	u32 pid;

	skip_without_permission();
	parent = start_breeding(brood);
	pid = (u32)parent;
	while (!brood->count)
		sched_yield();
	settings = (struct capture_settings){.targets = {.pids = &pid, .pid_count = 1}};
	assert_int_equal(recording_start(&recording, &settings), 0);
	assert_int_equal(capture_drain(recording.capture), 0);
	brood->is_enough = true;
	close(brood->gate[0]);
	close(brood->gate[1]);
	run_until_ended(&recording, parent);
	recording_stop(&recording);
	assert_adds_up(&recording);
	for (size_t i = 0; i < recording.samples.count; i++)
		*idmap_place(&seen, recording.samples.items[i].pid) = 1;
	assert_true(brood->count > 10);
	for (u32 i = 0; i < brood->count; i++)
		assert_true(idmap_get(&seen, (u32)brood->pids[i]));
	idmap_release(&seen);
	recording_release(&recording);
	munmap(brood, sizeof(*brood));
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_of_the_command_are_followed),
		cmocka_unit_test(children_are_not_followed_if_so_asked),
		cmocka_unit_test(children_that_run_already_are_followed),
		cmocka_unit_test(children_that_run_already_are_not_followed_if_so_asked),
		cmocka_unit_test(children_born_while_the_recording_starts_are_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
