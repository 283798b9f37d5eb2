/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recording the live kernel: whole stacks, sums without difference, nothing lost in a storm, and
 * one clear line for what cannot be done.
 */
#include "kernel/burning.h"

#include "base/number.h"

#include <sched.h>
#include <sys/mman.h>

/* Records `command` from start to end. */
static void record_command(struct capture_settings settings, char *const *command,
			   struct recording *recording)
{
	settings.targets.command = command;
	assert_int_equal(recording_start(recording, &settings), 0);
	recording_run(recording, SIZE_MAX);
	recording_stop(recording);
}

/* Whether this stack is the one of `deep DEPTH`: at_the_bottom, down DEPTH times of which all but
 * the first were called from the same place, main, and what called main. */
static bool is_stack_of_deep(const struct sample *sample, const struct frame *frames, u32 depth)
{
	if (sample->space != SPACE_USER || sample->frame_count < depth + 2)
		return false;
	for (u32 i = 3; i < depth + 1; i++)
		if (frames[i].address != frames[2].address)
			return false;
	return frames[depth + 1].address != frames[2].address && sample->walked;
}

static void known_stack_comes_whole(void **state)
{
	CLEANUP(freep) char *path = workload("deep");
	char *command[] = {path, "40", "0.5", NULL};
	struct recording recording;
	size_t whole = 0, deep = 0;

	skip_without_permission();
	record_command((struct capture_settings){0}, command, &recording);
	for (size_t i = 0; i < recording.samples.count; i++) {
		const struct sample *sample = &recording.samples.items[i];
		const struct frame *frames =
			&recording.frames.items[recording.first_frames.items[i]];

		deep += sample->space == SPACE_USER && sample->frame_count > 10;
		whole += is_stack_of_deep(sample, frames, 40);
	}
	/* At 999 Hz half a second is 500; the rest is the dynamic linker, which takes its time on a
	 * machine that has just been busy, and clock_gettime(). */
	assert_true(deep > amount(300));
	/* An emulated clock takes its time to be read. */
	assert_true(whole >= deep - 2 - deep / (amount(1) ? 50 : 5));
	assert_adds_up(&recording);
	recording_release(&recording);
	(void)state;
}

static void stack_deeper_than_asked_for_is_cut_and_says_so(void **state)
{
	CLEANUP(freep) char *path = workload("deep");
	char *command[] = {path, "40", "0.2", NULL};
	struct recording recording;
	size_t cut = 0;

	skip_without_permission();
	record_command((struct capture_settings){.max_stack = 10}, command, &recording);
	for (size_t i = 0; i < recording.samples.count; i++) {
		const struct sample *sample = &recording.samples.items[i];

		if (sample->space == SPACE_USER)
			assert_true(sample->frame_count <= 10);
		cut += sample->cut == CUT_TOO_DEEP;
	}
	assert_true(cut > amount(100));
	assert_int_equal(recording.totals.counters[COUNTER_user_stack_too_deep], cut);
	recording_release(&recording);
	(void)state;
}

static void no_stacks_come_if_none_are_asked_for(void **state)
{
	CLEANUP(freep) char *path = workload("spin");
	char *command[] = {path, "0.1", NULL};
	struct recording recording;

	skip_without_permission();
	record_command((struct capture_settings){.call_graph = CALL_GRAPH_NONE}, command,
		       &recording);
	assert_true(recording.samples.count > amount(50));
	assert_int_equal(recording.frames.count, 0);
	assert_false(recording.samples.items[0].has_chain);
	recording_release(&recording);
	(void)state;
}

static void assert_weigh(const struct recording *recording, size_t from, u64 hz)
{
	for (size_t i = from; i < recording->samples.count; i++)
		assert_int_equal(recording->samples.items[i].weight, 1000000000 / hz);
}

static void samples_weigh_what_the_rate_of_their_time_says(void **state)
{
	pid_t burning;
	struct recording recording;
	size_t changed;

	skip_without_permission();
	burning = start_burning(NULL, NULL);
	assert_int_equal(recording_start(&recording, &(struct capture_settings){0}), 0);
	recording_run(&recording, ENOUGH);
	assert_weigh(&recording, 0, 999);
	assert_int_equal(capture_set_rate(recording.capture, 100), 0);
	/* what is in the ring by now */
	assert_int_equal(capture_drain(recording.capture), 0);
	changed = recording.samples.count;
	recording_run(&recording, changed + ENOUGH);
	end_process(burning);
	assert_weigh(&recording, changed, 100);
	recording_stop(&recording);
	recording_release(&recording);
	(void)state;
}

static void every_tick_is_accounted_for(void **state)
{
	static const u64 rates[] = {99, 999, 4999};
	/* An emulated processor, which takes 200 us for a sample, has no time left at the last. */
	const size_t count = ARRAY_COUNT(rates) - !amount(1);
	CLEANUP(freep) char *path = workload("spin");
	char *command[] = {path, "0.4", "3", NULL};

	skip_without_permission();
	for (size_t i = 0; i < count; i++) {
		struct parsed_event clock = software(PERF_COUNT_SW_CPU_CLOCK, rates[i], true);
		struct recording recording;

		record_command((struct capture_settings){.events = &clock,
							 .event_count = 1,
							 .targets = {.all = true}},
			       command, &recording);
		assert_adds_up(&recording);
		assert_true(recording.samples.count > 0);
		recording_release(&recording);
	}
	(void)state;
}

static void clock_of_one_mode_counts_the_other_as_left_out(void **state)
{
	struct parsed_event clock = software(PERF_COUNT_SW_CPU_CLOCK, 999, true);
	CLEANUP(freep) char *path = workload("forky");
	char *command[] = {path, "300", NULL};
	struct recording recording;

	skip_without_permission();
	clock.exclude_kernel = true;
	record_command((struct capture_settings){.events = &clock,
						 .event_count = 1,
						 .targets = {.all = true}},
		       command, &recording);
	for (size_t i = 0; i < recording.samples.count; i++)
		assert_int_equal(recording.samples.items[i].space, SPACE_USER);
	assert_true(recording.totals.counters[COUNTER_skipped_mode] > 0);
	assert_adds_up(&recording);
	recording_release(&recording);
	(void)state;
}

static void software_events_are_sampled_each_with_its_source(void **state)
{
	struct parsed_event events[] = {
		software(PERF_COUNT_SW_PAGE_FAULTS, 1, false),
		software(PERF_COUNT_SW_CONTEXT_SWITCHES, 1, false),
		software(PERF_COUNT_SW_PAGE_FAULTS_MIN, 10, false),
		software(PERF_COUNT_SW_TASK_CLOCK, 999, true),
		software(PERF_COUNT_SW_CPU_MIGRATIONS, 1, false),
	};
	CLEANUP(freep) char *path = workload("forky");
	char *command[] = {path, "400", "100000", NULL};
	size_t by_source[ARRAY_COUNT(events)] = {0};
	struct recording recording;

	skip_without_permission();
	record_command((struct capture_settings){.events = events,
						 .event_count = ARRAY_COUNT(events),
						 .targets = {.all = true}},
		       command, &recording);
	for (size_t i = 0; i < recording.samples.count; i++) {
		assert_in_range(recording.samples.items[i].source, 0, ARRAY_COUNT(events) - 1);
		by_source[recording.samples.items[i].source]++;
	}
	assert_true(by_source[0] > 1000);
	assert_true(by_source[1] > 400);
	assert_in_range(by_source[2], by_source[0] / 20, by_source[0] / 5);
	assert_true(by_source[3] > amount(10));
	assert_adds_up(&recording);
	recording_release(&recording);
	(void)state;
}

static void ring_of_one_page_loses_and_counts_it(void **state)
{
	struct parsed_event clock = software(PERF_COUNT_SW_CPU_CLOCK, 4999, true);
	struct capture_settings settings = {.events = &clock, .event_count = 1, .ring_bytes = 1};
	struct recording recording;
	struct capture_totals at_start, now;
	pid_t burning;
	u32 pid;

	skip_without_permission();
	burning = start_burning(NULL, NULL);
	pid = (u32)burning;
	settings.targets = (struct capture_targets){.pids = &pid, .pid_count = 1};
	assert_int_equal(recording_start(&recording, &settings), 0);
	/* Starting drains once, which ends when the ring is empty, whatever comes meanwhile. From
	 * now on nobody drains until the process has ended, and then no more comes. */
	capture_totals(recording.capture, &at_start);
	do {
		sched_yield();
		capture_totals(recording.capture, &now);
	} while (now.counters[COUNTER_lost_ring_full] <= amount(500));
	end_process(burning);
	recording_stop(&recording);
	assert_in_range(recording.totals.counters[COUNTER_samples_sent] -
				at_start.counters[COUNTER_samples_sent],
			0, 4096 / 56);
	assert_true(recording.samples.count > 0);
	assert_true(recording.totals.counters[COUNTER_lost_ring_full] > amount(500));
	assert_adds_up(&recording);
	recording_release(&recording);
	(void)state;
}

enum { FAULTS_MAX = 100000 };

static volatile u8 *fault_page;
static u32 fault_count;

/* Each sample that is handed on makes another one. */
static int fault_again(struct event_sink *self, const struct sample *sample)
{
	(void)self;
	(void)sample;
	if (fault_count < FAULTS_MAX) {
		madvise((void *)fault_page, 1, MADV_DONTNEED);
		*fault_page = 1;
		fault_count++;
	}
	return 0;
}

static void a_drain_ends_though_more_comes_all_the_time(void **state)
{
	struct parsed_event faults = software(PERF_COUNT_SW_PAGE_FAULTS, 1, false);
	u32 pid = (u32)getpid();
	struct capture_settings settings = {.events = &faults,
					    .event_count = 1,
					    .ring_bytes = 1,
					    .call_graph = CALL_GRAPH_NONE,
					    .targets = {.pids = &pid, .pid_count = 1}};
	struct recording recording;
	u32 before;

	skip_without_permission();
	fault_page = mmap(NULL, (size_t)getpagesize(), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_int_equal(recording_open(&recording, &settings), 0);
	recording.sink.on_sample = fault_again;
	assert_int_equal(capture_start(recording.capture, &recording.sink), 0);
	fault_again(NULL, NULL);
	before = fault_count;
	assert_int_equal(capture_drain(recording.capture), 0);
	assert_in_range(fault_count - before, 1, 4096 / 56);
	recording_stop(&recording);
	recording_release(&recording);
	munmap((void *)fault_page, (size_t)getpagesize());
	(void)state;
}

static void storm_of_short_lived_processes_loses_no_name(void **state)
{
	u32 children = amount(2000);
	CLEANUP(freep) char *path = workload("forky");
	CLEANUP(freep) char *count = must_format("%u", children);
	char *command[] = {path, count, "0", "/bin/true", NULL};
	struct recording recording;

	skip_without_permission();
	record_command((struct capture_settings){0}, command, &recording);
	assert_int_equal(recording.forks.count, children);
	assert_int_equal(recording.exec_names.count, children + 1);
	assert_true(recording.executable_mappings >= (children + 1) * 3);
	assert_int_equal(recording.totals.counters[COUNTER_side_band_lost], 0);
	assert_int_equal(recording.side_band_losses, 0);
	recording_release(&recording);
	(void)state;
}

/* Opens or starts what must fail; returns the error after checking that its sentence has `words`.
 */
static int refusal(struct capture_settings settings, const char *words)
{
	struct recording recording;
	int error = recording_start(&recording, &settings);

	assert_true(error < 0);
	assert_non_null(strstr(fail_sentence(), words));
	recording_release(&recording);
	return error;
}

static void what_cannot_be_recorded_is_refused_in_one_line(void **state)
{
	char *missing[] = {"/no/such/program", NULL}, *not_executable[] = {"/etc/passwd", NULL};
	u32 no_pid = 4194304, no_cpu = 8191;
	struct parsed_event too_fast = software(PERF_COUNT_SW_CPU_CLOCK, 100000000, true);
	struct parsed_event unknown = {.name = "none", .type = 12345, .rate = 1};

	skip_without_permission();
	assert_int_equal(refusal((struct capture_settings){.targets = {.command = missing}},
				 "cannot run /no/such/program: No such file"),
			 -ENOENT);
	assert_int_equal(refusal((struct capture_settings){.targets = {.command = not_executable}},
				 "cannot run /etc/passwd: Permission denied"),
			 -EACCES);
	assert_int_equal(
		refusal((struct capture_settings){.targets = {.pids = &no_pid, .pid_count = 1}},
			"process 4194304: No such process"),
		-ESRCH);
	assert_int_equal(
		refusal((struct capture_settings){.targets = {.tids = &no_pid, .tid_count = 1}},
			"thread 4194304: No such process"),
		-ESRCH);
	assert_int_equal(
		refusal((struct capture_settings){.targets = {.cpus = &no_cpu, .cpu_count = 1}},
			"CPU 8191: it is not online"),
		-ENODEV);
	assert_int_equal(refusal((struct capture_settings){.events = &too_fast, .event_count = 1},
				 "the kernel allows"),
			 -EINVAL);
	assert_int_equal(refusal((struct capture_settings){.events = &unknown, .event_count = 1},
				 "this machine does not count it"),
			 -ENOENT);
	assert_int_equal(refusal((struct capture_settings){.max_stack = 513}, "513 frames"),
			 -EINVAL);
	(void)state;
}

static void two_recordings_at_once_see_the_same(void **state)
{
	CLEANUP(freep) char *path = workload("spin");
	char *command[] = {path, "0.3", NULL};
	struct capture_settings settings = {.targets = {.all = true}};
	struct recording first, second;

	skip_without_permission();
	assert_int_equal(recording_start(&first, &settings), 0);
	record_command((struct capture_settings){0}, command, &second);
	recording_stop(&first);
	assert_adds_up(&first);
	assert_adds_up(&second);
	assert_true(second.samples.count > amount(200));
	assert_true(first.samples.count >= second.samples.count);
	recording_release(&first);
	recording_release(&second);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_stack_comes_whole),
		cmocka_unit_test(stack_deeper_than_asked_for_is_cut_and_says_so),
		cmocka_unit_test(no_stacks_come_if_none_are_asked_for),
		cmocka_unit_test(samples_weigh_what_the_rate_of_their_time_says),
		cmocka_unit_test(every_tick_is_accounted_for),
		cmocka_unit_test(clock_of_one_mode_counts_the_other_as_left_out),
		cmocka_unit_test(software_events_are_sampled_each_with_its_source),
		cmocka_unit_test(ring_of_one_page_loses_and_counts_it),
		cmocka_unit_test(a_drain_ends_though_more_comes_all_the_time),
		cmocka_unit_test(storm_of_short_lived_processes_loses_no_name),
		cmocka_unit_test(what_cannot_be_recorded_is_refused_in_one_line),
		cmocka_unit_test(two_recordings_at_once_see_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
