/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CPUs that go and come while a recording runs. No CPU of this machine really does: what the kernel
 * says of them is covered in a mount namespace of our own, and events are stopped as they are when
 * their CPU goes offline.
 */
#include "kernel/burning.h"
#include "kernel/cover.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

static const char online_list[] = "/sys/devices/system/cpu/online";
static const char uevent_count[] = "/sys/kernel/uevent_seqnum";

static size_t samples_of_cpu(const struct recording *recording, u32 cpu)
{
	size_t count = 0;

	for (size_t i = 0; i < recording->samples.count; i++)
		count += recording->samples.items[i].cpu == cpu;
	return count;
}

static void cpu_that_comes_later_is_sampled_until_it_goes(void **state)
{
	struct capture_settings settings = {.targets = {.all = true}, .wants_idle = true};
	struct recording recording;
	struct cover online;
	size_t samples;

	skip_without_permission();
	online = cover_file(online_list, "0\n");
	assert_int_equal(recording_start(&recording, &settings), 0);
	recording_run(&recording, 300);
	assert_int_equal(samples_of_cpu(&recording, 1), 0);
	cover_write(&online, "0-1\n");
	while (!samples_of_cpu(&recording, 1))
		recording_run(&recording, recording.samples.count + 1);
	cover_write(&online, "0\n");
	do { /* it is closed within a second, and then stays silent */
		samples = samples_of_cpu(&recording, 1);
		recording_run(&recording, recording.samples.count + 500);
	} while (samples_of_cpu(&recording, 1) != samples);
	recording_stop(&recording);
	assert_adds_up(&recording);
	assert_int_equal(recording.totals.counters[COUNTER_cpu_unwatched], 1);
	recording_release(&recording);
	uncover(&online);
	(void)state;
}

static bool is_perf_event(const char *fd)
{
	CLEANUP(freep) char *path = must_format("/proc/self/fd/%s", fd);
	char target[64] = "";

	return readlink(path, target, sizeof(target) - 1) > 0 && strstr(target, "[perf_event]");
}

/* What the kernel does to the events of a CPU that goes offline: they count no more, and will never
 * again. */
static void kill_events(void)
{
	CLEANUP(closedirp) DIR *fds = opendir("/proc/self/fd");
	const struct dirent *entry;

	assert_non_null(fds);
	while ((entry = readdir(fds)))
		if (is_perf_event(entry->d_name))
			ioctl(atoi(entry->d_name), PERF_EVENT_IOC_DISABLE, 0);
}

/* What was told of a process that began while nobody listened. */
struct hearing {
	struct recording recording; /* first */
	u32 pid;
	u64 named_ns, mapped_ns; /* since when; 0: not told */
};

static int hear_name(struct event_sink *self, const struct thread_name *name)
{
	struct hearing *hearing = (struct hearing *)self;

	if (name->pid == hearing->pid)
		hearing->named_ns = name->time_ns;
	return keep_name(self, name);
}

static int hear_mapping(struct event_sink *self, const struct mapping *mapping)
{
	struct hearing *hearing = (struct hearing *)self;

	if (mapping->pid == hearing->pid)
		hearing->mapped_ns = mapping->time_ns;
	return keep_mapping(self, mapping);
}

/* Records until events die under it; then `pid` begins, and the kernel says that devices changed.
 * Ends when there are samples again. */
static void lose_all_cpus(struct hearing *hearing, struct capture_settings *settings)
{
	struct recording *recording = &hearing->recording;
	struct cover uevents = cover_file(uevent_count, "820\n");

	assert_int_equal(recording_open(recording, settings), 0);
	recording->sink.on_name = hear_name;
	recording->sink.on_mapping = hear_mapping;
	assert_int_equal(capture_start(recording->capture, &recording->sink), 0);
	recording_run(recording, 300);
	kill_events();
	hearing->pid = (u32)start_burning(NULL, NULL);
	cover_write(&uevents, "823\n");
	recording_run(recording, recording->samples.count + 300);
	recording_stop(recording);
	end_process((pid_t)hearing->pid);
	uncover(&uevents);
}

static void events_that_died_are_opened_anew(void **state)
{
	struct capture_settings settings = {.targets = {.all = true}, .wants_idle = true};
	struct hearing hearing = {0};
	const struct recording *recording = &hearing.recording;

	skip_without_permission();
	lose_all_cpus(&hearing, &settings);
	assert_true(recording->totals.counters[COUNTER_cpu_unwatched] >= 2);
	assert_adds_up(recording);
	recording_release(&hearing.recording);
	(void)state;
}

static void what_began_while_nobody_listened_is_told(void **state)
{
	struct capture_settings settings = {.targets = {.all = true}, .wants_idle = true};
	struct hearing hearing = {0};

	skip_without_permission();
	lose_all_cpus(&hearing, &settings);
	assert_true(hearing.named_ns && hearing.mapped_ns);
	recording_release(&hearing.recording);
	(void)state;
}

static void children_that_began_while_nobody_listened_are_told(void **state)
{
	u32 self = (u32)getpid();
	struct capture_settings settings = {.targets = {.pids = &self, .pid_count = 1}};
	struct hearing hearing = {0};
	pid_t busy;

	skip_without_permission();
	busy = start_burning(NULL, NULL); /* a child from the start: there is something to sample */
	lose_all_cpus(&hearing, &settings);
	assert_true(hearing.named_ns && hearing.mapped_ns);
	end_process(busy);
	recording_release(&hearing.recording);
	(void)state;
}

static void cpus_are_not_opened_anew_because_a_device_changes(void **state)
{
	struct capture_settings settings = {.targets = {.all = true}, .wants_idle = true};
	struct recording recording;
	struct cover uevents;

	skip_without_permission();
	uevents = cover_file(uevent_count, "820\n");
	assert_int_equal(recording_start(&recording, &settings), 0);
	for (int turn = 1; turn <= 3; turn++) {
		CLEANUP(freep) char *count = must_format("%d\n", 820 + turn);

		cover_write(&uevents, count);
		recording_run(&recording, recording.samples.count + 1500);
	}
	recording_stop(&recording);
	assert_int_equal(recording.totals.counters[COUNTER_cpu_unwatched], 0);
	assert_adds_up(&recording);
	recording_release(&recording);
	uncover(&uevents);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpu_that_comes_later_is_sampled_until_it_goes),
		cmocka_unit_test(events_that_died_are_opened_anew),
		cmocka_unit_test(what_began_while_nobody_listened_is_told),
		cmocka_unit_test(children_that_began_while_nobody_listened_are_told),
		cmocka_unit_test(cpus_are_not_opened_anew_because_a_device_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
