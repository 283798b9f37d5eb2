/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The features behind the records of a perf.data.
 */
#include "unit/perfdata/foreign.h"

enum { IP_TID_TIME = 7, SAMPLE_ID_ALL = 1 << 18 };

static void features_of_a_newer_perf_are_one_line(void **state)
{
	struct foreign foreign = foreign_begin(false, IP_TID_TIME, SAMPLE_ID_ALL);
	struct collector collector;
	struct text warnings = {0};

	put_short_sample(&foreign, 1);
	patch64(&foreign, AT_RECORDS_SIZE, foreign.bytes.length - (HEADER_BYTES + 8 + 64 + 16));
	patch64(&foreign, AT_FEATURES, (u64)7 << 60);
	for (u32 i = 0; i < 3; i++) {
		put64(&foreign, 0);
		put64(&foreign, 8);
	}
	assert_int_equal(foreign_read(&foreign, &collector, &warnings), 0);
	assert_int_equal(collector.samples, 1);
	assert_string_equal(text_view(&warnings),
			    "features from number 60 on are not known and were passed over\n");
	text_release(&warnings);
	text_release(&collector.lines);
	text_release(&foreign.bytes);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(features_of_a_newer_perf_are_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
