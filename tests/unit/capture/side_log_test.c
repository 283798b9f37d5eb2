/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which records about processes are told once it is known who had samples.
 */
#include "capture/side_log.h"
#include "unit/unit.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

enum { SHELL = 100, MAKE = 200, COMPILER = 300, LATE = 1000 };

/* As the kernel writes it, with its trailer. */
struct task_record {
	struct perf_event_header header;
	u32 pid, parent_pid, tid, parent_tid;
	u64 time_ns;
	u32 trailer_pid, trailer_tid;
	u64 trailer_time_ns, cpu;
};

static struct side_log *side_log;
static u64 clock_now_ns;
/* "f300 x300 …": forks, mappings, exits of pids; "f300." of one that is over. */
static char told[512];

static int set_up(void **state)
{
	side_log = side_log_new();
	clock_now_ns = 0;
	told[0] = 0;
	(void)state;
	return 0;
}

static int tear_down(void **state)
{
	side_log_free(side_log);
	(void)state;
	return 0;
}

static bool keep(u32 type, u32 pid, u32 parent_pid, u32 tid)
{
	u64 now_ns = ++clock_now_ns;
	struct task_record record = {
		.header = {.type = type, .size = sizeof(record)},
		.pid = pid,
		.parent_pid = parent_pid,
		.tid = tid,
		.parent_tid = parent_pid,
		.time_ns = now_ns,
		.trailer_time_ns = now_ns,
	};

	return side_log_keep(side_log, &record, sizeof(record));
}

static void begins(u32 pid, u32 parent)
{
	assert_true(keep(PERF_RECORD_FORK, pid, parent, pid));
}

static void maps(u32 pid)
{
	assert_true(keep(PERF_RECORD_MMAP2, pid, 0, pid));
}

static void ends(u32 pid)
{
	assert_true(keep(PERF_RECORD_EXIT, pid, SHELL, pid));
}

static void has_sample(u32 pid)
{
	struct event_sink *sink = side_log_samples(side_log);

	assert_int_equal(sink_call(sink, on_sample, &(struct sample){.pid = pid, .tid = pid}), 0);
}

static int take(void *context, const void *bytes, size_t length, bool is_over)
{
	static const char kinds[] = {
		[PERF_RECORD_FORK] = 'f', [PERF_RECORD_MMAP2] = 'm', [PERF_RECORD_EXIT] = 'x'};
	const struct task_record *record = bytes;
	size_t used = strlen(told);

	(void)context;
	assert_int_equal(length, sizeof(*record));
	snprintf(told + used, sizeof(told) - used, "%s%c%u%s", used ? " " : "",
		 kinds[record->header.type], record->pid, is_over ? "." : "");
	return 0;
}

static void tell(void)
{
	assert_int_equal(side_log_tell_sampled(side_log, LATE, take, NULL), 0);
}

static void who_came_and_went_without_a_sample_is_not_told(void **state)
{
	begins(COMPILER, SHELL);
	maps(COMPILER);
	ends(COMPILER);
	tell();
	assert_string_equal(told, "");
	(void)state;
}

static void who_had_a_sample_is_told_in_order(void **state)
{
	begins(COMPILER, SHELL);
	begins(MAKE, SHELL);
	maps(COMPILER);
	maps(MAKE);
	ends(MAKE);
	ends(COMPILER);
	has_sample(COMPILER);
	tell();
	assert_string_equal(told, "f300. m300. x300.");
	(void)state;
}

static void who_lives_or_was_there_before_is_told(void **state)
{
	maps(SHELL);
	begins(COMPILER, SHELL);
	maps(COMPILER);
	ends(SHELL);
	tell();
	assert_string_equal(told, "m100 f300 m300 x100");
	(void)state;
}

/* What it had mapped was inherited by who is told. */
static void whose_child_is_told_is_told(void **state)
{
	begins(MAKE, SHELL);
	maps(MAKE);
	begins(COMPILER, MAKE);
	ends(MAKE);
	ends(COMPILER);
	has_sample(COMPILER);
	tell();
	assert_string_equal(told, "f200. m200. f300. x200. x300.");
	(void)state;
}

/* It may be told of again, by what it has inherited. */
static void whose_child_lives_is_not_over(void **state)
{
	begins(MAKE, SHELL);
	maps(MAKE);
	begins(COMPILER, MAKE);
	ends(MAKE);
	tell();
	assert_string_equal(told, "f200 m200 f300 x200");
	(void)state;
}

static void a_thread_that_lives_keeps_its_process(void **state)
{
	begins(COMPILER, SHELL);
	assert_true(keep(PERF_RECORD_FORK, COMPILER, COMPILER, COMPILER + 1));
	ends(COMPILER);
	tell();
	assert_string_equal(told, "f300 f300 x300");
	(void)state;
}

/* Its samples may lie in the counts that are not read yet. */
static void who_ended_after_the_samples_were_counted_is_told(void **state)
{
	begins(COMPILER, SHELL);
	clock_now_ns = LATE;
	ends(COMPILER);
	tell();
	assert_string_equal(told, "f300 x300");
	(void)state;
}

static void both_processes_of_a_number_are_told(void **state)
{
	begins(COMPILER, SHELL);
	ends(COMPILER);
	begins(COMPILER, SHELL);
	ends(COMPILER);
	has_sample(COMPILER);
	tell();
	assert_string_equal(told, "f300. x300. f300. x300.");
	(void)state;
}

static void all_are_told_if_that_is_asked(void **state)
{
	begins(COMPILER, SHELL);
	ends(COMPILER);
	assert_int_equal(side_log_tell_all(side_log, take, NULL), 0);
	assert_string_equal(told, "f300 x300");
	(void)state;
}

static void what_was_told_is_forgotten(void **state)
{
	begins(COMPILER, SHELL);
	has_sample(COMPILER);
	tell();
	told[0] = 0;
	begins(MAKE, COMPILER);
	ends(MAKE);
	ends(COMPILER);
	tell();
	assert_string_equal(told, "x300");
	(void)state;
}

static void what_is_of_no_process_is_not_kept(void **state)
{
	assert_false(keep(PERF_RECORD_KSYMBOL, 0, 0, 0));
	assert_false(keep(PERF_RECORD_LOST, 0, 0, 0));
	assert_false(keep(PERF_RECORD_CGROUP, 0, 0, 0));
	(void)state;
}

static int refuse(void *context, const void *record, size_t bytes, bool is_over)
{
	(void)is_over;
	(void)context;
	(void)record;
	(void)bytes;
	return -EPIPE;
}

static void refusal_ends_the_telling(void **state)
{
	maps(SHELL);
	assert_int_equal(side_log_tell_sampled(side_log, LATE, refuse, NULL), -EPIPE);
	(void)state;
}

static void it_says_how_much_is_kept(void **state)
{
	assert_int_equal(side_log_bytes(side_log), 0);
	for (u32 pid = 1; pid <= 1000; pid++)
		maps(pid);
	assert_in_range(side_log_bytes(side_log), 1000 * sizeof(struct task_record),
			2000 * sizeof(struct task_record));
	assert_int_equal(side_log_tell_sampled(side_log, LATE, refuse, NULL), -EPIPE);
	assert_int_equal(side_log_bytes(side_log), 0);
	(void)state;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_came_and_went_without_a_sample_is_not_told),
		TEST(who_had_a_sample_is_told_in_order),
		TEST(who_lives_or_was_there_before_is_told),
		TEST(whose_child_is_told_is_told),
		TEST(whose_child_lives_is_not_over),
		TEST(a_thread_that_lives_keeps_its_process),
		TEST(who_ended_after_the_samples_were_counted_is_told),
		TEST(both_processes_of_a_number_are_told),
		TEST(all_are_told_if_that_is_asked),
		TEST(what_was_told_is_forgotten),
		TEST(what_is_of_no_process_is_not_kept),
		TEST(refusal_ends_the_telling),
		TEST(it_says_how_much_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
