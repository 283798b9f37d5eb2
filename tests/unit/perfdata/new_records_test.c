/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What newer kernels write, and what nobody does.
 */
#include "base/memory.h"
#include "unit/perfdata/foreign.h"

#include <inttypes.h>

enum { TID = 2, READ = 16, USUAL = 1 | TID | 4 }; /* of a sample: address, thread, time */
enum { INHERIT = 2, SAMPLE_ID_ALL = 1 << 18 };	  /* of the flags */

static void ever_new_records_are_not_told_for_ever(void **state)
{
	struct foreign foreign = foreign_begin(false, USUAL, SAMPLE_ID_ALL);
	CLEANUP(text_release) struct text warnings = {0};
	struct collector collector;
	u32 lines = 0;

	for (u32 type = 1000; type < 2000; type++) {
		record_begin(&foreign, type, 0);
		record_end(&foreign);
	}
	foreign_end(&foreign);
	assert_int_equal(foreign_read(&foreign, &collector, &warnings), 0);
	for (const char *at = text_view(&warnings); *at; at++)
		lines += *at == '\n';
	assert_in_range(lines, 10, 40);
	assert_non_null(strstr(text_view(&warnings), "still more types"));
	text_release(&collector.lines);
	text_release(&foreign.bytes);
	(void)state;
}

static void put_counted_sample(struct foreign *foreign, u32 tid, u64 value)
{
	record_begin(foreign, 9, 2);
	put64(foreign, 0x400100);
	put32(foreign, 5);
	put32(foreign, tid);
	put64(foreign, 1000 + value);
	put64(foreign, value);
	record_end(foreign);
}

static void inherited_counters_go_on_thread_by_thread(void **state)
{
	struct foreign foreign = foreign_begin(false, USUAL | READ, INHERIT);
	struct collector collector;
	u64 weights = 0, weight;

	put_counted_sample(&foreign, 5, 700);
	put_counted_sample(&foreign, 6, 300);
	put_counted_sample(&foreign, 5, 1000);
	put_counted_sample(&foreign, 6, 310);
	foreign_end(&foreign);
	assert_int_equal(foreign_read(&foreign, &collector, NULL), 0);
	assert_int_equal(collector.samples, 4);
	for (const char *at = text_view(&collector.lines); (at = strstr(at, " weight ")); at++) {
		assert_int_equal(sscanf(at, " weight %" SCNu64, &weight), 1);
		weights += weight;
	}
	assert_int_equal(weights, 1000 + 310);
	text_release(&collector.lines);
	text_release(&foreign.bytes);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ever_new_records_are_not_told_for_ever),
		cmocka_unit_test(inherited_counters_go_on_thread_by_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
