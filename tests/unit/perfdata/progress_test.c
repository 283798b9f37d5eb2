/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whoever waits for a long file is told how far it has come.
 */
#include "unit/perfdata/foreign.h"

#include <linux/perf_event.h>

static u64 calls, last_done, last_total;

static void note_progress(const char *what, u64 done, u64 total)
{
	(void)what;
	calls++;
	last_done = done;
	last_total = total;
}

static void progress_ends_with_all_records_read(void **state)
{
	struct foreign foreign = foreign_begin(
		false, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME, 0);
	struct collector collector = collector_make();
	struct perfdata *data;

	for (u64 time_ns = 1; time_ns <= 3; time_ns++) {
		record_begin(&foreign, 9, 2);
		put64(&foreign, 0x1234);
		put32(&foreign, 5);
		put32(&foreign, 6);
		put64(&foreign, time_ns);
		record_end(&foreign);
	}
	foreign_end(&foreign);
	data = foreign_open(&foreign);
	perfdata_on_progress(data, note_progress);
	assert_int_equal(perfdata_read(data, &collector.sink), 0);
	assert_int_equal(calls, 1);
	assert_int_equal(last_done, 3);
	assert_int_equal(last_total, 3);
	perfdata_close(data);
	text_release(&collector.lines);
	text_release(&foreign.bytes);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(progress_ends_with_all_records_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
