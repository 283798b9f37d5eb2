/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What Prometheus is told, line by line. */
#include "continuous/metrics.h"

#include "base/memory.h"
#include "unit/unit.h"

#include <string.h>

/* The text of it; free() it. */
static char *text_of(const struct metrics *metrics, u64 now_ns)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	metrics_write(metrics, now_ns, out);
	fclose(out);
	return text;
}

static void expect_line(const char *text, const char *line)
{
	CLEANUP(freep) char *whole = must_format("\n%s\n", line);

	if (!strstr(text, whole))
		print_message("missing: %s\n", line);
	assert_non_null(strstr(text, whole));
}

static void losses_are_told_by_reason_also_those_that_never_were(void **state)
{
	struct metrics metrics = {
		.version = "1.2",
		.samples = 12,
		.losses = {[COUNTER_lost_ring_full] = 3, [COUNTER_user_stack_broken] = 4},
	};
	CLEANUP(freep) char *text = text_of(&metrics, 0);

	expect_line(text, "bpfprof_build_info{version=\"1.2\"} 1");
	expect_line(text, "# TYPE bpfprof_samples_total counter\nbpfprof_samples_total 12");
	expect_line(text, "bpfprof_samples_lost_total{reason=\"ring_full\"} 3");
	expect_line(text, "bpfprof_samples_lost_total{reason=\"memory\"} 0");
	expect_line(text, "bpfprof_stacks_cut_total{reason=\"user_stack_broken\"} 4");
	(void)state;
}

static void times_are_in_seconds(void **state)
{
	struct metrics metrics = {
		.version = "",
		.own_ns = 1500000000,
		.bpf_ns = 7,
		.window_end_ns = 20000000000,
	};
	CLEANUP(freep) char *text = text_of(&metrics, 21250000000);
	CLEANUP(freep) char *early = text_of(&metrics, 19000000000);

	expect_line(text, "bpfprof_cpu_seconds_total{of=\"process\"} 1.500000000");
	expect_line(text, "bpfprof_cpu_seconds_total{of=\"bpf\"} 0.000000007");
	expect_line(text, "bpfprof_window_end_timestamp_seconds 20.000000000");
	expect_line(text, "bpfprof_window_age_seconds 1.250000000");
	expect_line(early, "bpfprof_window_age_seconds 0.000000000"); /* the clock was set back */
	(void)state;
}

static void what_there_is_nothing_of_is_left_out(void **state)
{
	struct metrics metrics = {.version = ""};
	CLEANUP(freep) char *without = text_of(&metrics, 5);
	CLEANUP(freep) char *with = NULL;

	metrics.pushes = true;
	metrics.push.lost[PUSH_LOST_spool_full] = 2;
	metrics.push.waiting_bytes = 4096;
	with = text_of(&metrics, 5);
	assert_null(strstr(without, "bpfprof_push_"));
	assert_null(strstr(without, "bpfprof_window_age_seconds"));
	expect_line(with, "bpfprof_push_lost_total{reason=\"spool_full\"} 2");
	expect_line(with, "bpfprof_push_spool_bytes 4096");
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_are_told_by_reason_also_those_that_never_were),
		cmocka_unit_test(times_are_in_seconds),
		cmocka_unit_test(what_there_is_nothing_of_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
