/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Times as a person types them. */
#include "continuous/continuous.h"
#include "unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND_NS 1000000000ull

/* Without asking the system, which may not know its name. */
static const char berlin[] = "CET-1CEST,M3.5.0,M10.5.0/3";

/* 2026-11-21 15:30:00 UTC, a Saturday */
#define NOW_NS (1795275000 * SECOND_NS)

static void in_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

static const char *utc(u64 ns)
{
	static char text[2][64];
	static unsigned int next;
	time_t seconds = (time_t)(ns / SECOND_NS);
	struct tm parts;

	next ^= 1;
	gmtime_r(&seconds, &parts);
	strftime(text[next], sizeof(text[next]), "%F %T", &parts);
	return text[next];
}

static void expect_at(u64 now_ns, const char *text, const char *from, const char *to)
{
	struct time_span span = {0};

	assert_int_equal(times_parse_range(text, now_ns, &span), 0);
	assert_string_equal(utc(span.from_ns), from);
	assert_string_equal(utc(span.to_ns), to);
}

static void expect(const char *text, const char *from, const char *to)
{
	expect_at(NOW_NS, text, from, to);
}

static void a_time_of_day_is_the_last_one_that_was(void **state)
{
	in_zone("UTC");
	expect("14:00..14:05", "2026-11-21 14:00:00", "2026-11-21 14:05:00");
	expect("16:00..16:05", "2026-11-20 16:00:00", "2026-11-20 16:05:00");
	expect("23:50..00:10", "2026-11-20 23:50:00", "2026-11-21 00:10:00");
	expect("15:00..16:00", "2026-11-21 15:00:00", "2026-11-21 16:00:00");
	expect("9:05", "2026-11-21 09:05:00", "2026-11-21 09:06:00");
	expect("14:00:30", "2026-11-21 14:00:30", "2026-11-21 14:00:31");
	(void)state;
}

static void dates_and_zones_are_as_in_iso_8601(void **state)
{
	in_zone(berlin);
	expect("2026-11-20", "2026-11-19 23:00:00", "2026-11-20 23:00:00");
	expect("2024-02-29", "2024-02-28 23:00:00", "2024-02-29 23:00:00");
	expect("2026-11-20 14:00", "2026-11-20 13:00:00", "2026-11-20 13:01:00");
	expect("2026-07-01T14:00", "2026-07-01 12:00:00", "2026-07-01 12:01:00");
	expect("2026-11-20T14:00:00Z..2026-11-20T16:00:00+01:00", "2026-11-20 14:00:00",
	       "2026-11-20 15:00:00");
	(void)state;
}

static void zones_that_differ_are_one_range(void **state)
{
	in_zone("UTC");
	expect("2026-11-20T14:00:00Z..2026-11-20T14:00:00-05:30", "2026-11-20 14:00:00",
	       "2026-11-20 19:30:00");
	expect("2026-11-20 14:00..15:00", "2026-11-20 14:00:00", "2026-11-20 15:00:00");
	expect("2026-11-20 23:00..01:00", "2026-11-20 23:00:00", "2026-11-21 01:00:00");
	(void)state;
}

static void spans_and_words_count_from_now(void **state)
{
	in_zone("UTC");
	expect("10m..now", "2026-11-21 15:20:00", "2026-11-21 15:30:00");
	expect("2h..1h", "2026-11-21 13:30:00", "2026-11-21 14:30:00");
	expect("yesterday", "2026-11-20 00:00:00", "2026-11-21 00:00:00");
	expect("yesterday 14:00..15:00", "2026-11-20 14:00:00", "2026-11-20 15:00:00");
	expect("today..now", "2026-11-21 00:00:00", "2026-11-21 15:30:00");
	expect("@1795275000..@1795275060", "2026-11-21 15:30:00", "2026-11-21 15:31:00");
	(void)state;
}

static void a_span_before_now_alone_is_the_minute_that_it_was_in(void **state)
{
	in_zone("UTC");
	expect_at(NOW_NS + 40 * SECOND_NS, "10m", "2026-11-21 15:20:00", "2026-11-21 15:21:00");
	expect_at(NOW_NS + 40 * SECOND_NS, "50s", "2026-11-21 15:29:00", "2026-11-21 15:30:00");
	expect("@1795275001", "2026-11-21 15:30:01", "2026-11-21 15:30:02");
	(void)state;
}

static void expect_end(const char *text, const char *from, const char *end)
{
	u64 from_ns = 0, end_ns = 0;

	assert_int_equal(times_parse_moment(from, NOW_NS, false, &from_ns), 0);
	assert_int_equal(times_parse_end(text, NOW_NS, from_ns, &end_ns), 0);
	assert_string_equal(utc(end_ns), end);
}

static void an_end_may_be_still_to_come(void **state)
{
	in_zone("UTC");
	expect_end("16:00", "15:00", "2026-11-21 16:00:00");
	expect_end("00:30", "15:00", "2026-11-22 00:30:00");
	expect_end("16:00", "10m", "2026-11-21 16:00:00");
	/* but is the last one that was if that is behind the begin */
	expect_end("15:15", "15:00", "2026-11-21 15:15:00");
	expect_end("16:00", "16:30", "2026-11-21 16:00:00");
	expect_end("14:00", "2026-11-19 12:00", "2026-11-21 14:00:00");
	expect_end("2026-11-20 14:00", "15:00", "2026-11-20 14:00:00");
	(void)state;
}

/* Berlin: on 2026-03-29 02:00 becomes 03:00, on 2026-10-25 03:00 becomes 02:00. */
static void days_and_hours_follow_the_clocks_that_change(void **state)
{
	in_zone(berlin);
	expect("2026-03-29", "2026-03-28 23:00:00", "2026-03-29 22:00:00");
	expect("2026-10-25", "2026-10-24 22:00:00", "2026-10-25 23:00:00");
	expect("2026-10-25 02:30..2026-10-25 02:30:01", "2026-10-25 00:30:00",
	       "2026-10-25 01:30:01");
	expect("2026-10-25T02:30+01:00..2026-10-25T02:31+01:00", "2026-10-25 01:30:00",
	       "2026-10-25 01:31:00");
	expect("2026-03-29 01:30..03:30", "2026-03-29 00:30:00", "2026-03-29 01:30:00");
	(void)state;
}

/* 2026-10-25 00:45 UTC is 02:45 for the first time. */
static void an_end_that_comes_again_is_the_one_that_was(void **state)
{
	static const u64 first_ns = 1792889100 * SECOND_NS;
	u64 end_ns = 0;

	in_zone(berlin);
	assert_int_equal(times_parse_moment("02:30", first_ns, true, &end_ns), 0);
	assert_string_equal(utc(end_ns), "2026-10-25 00:30:00");
	assert_int_equal(times_parse_moment("02:50", first_ns, true, &end_ns), 0);
	assert_string_equal(utc(end_ns), "2026-10-24 00:50:00");
	/* an hour later it was both */
	assert_int_equal(times_parse_moment("02:30", first_ns + 3600 * SECOND_NS, true, &end_ns),
			 0);
	assert_string_equal(utc(end_ns), "2026-10-25 01:30:00");
	(void)state;
}

static void yesterday_is_a_local_day(void **state)
{
	struct time_span span;

	in_zone(berlin);
	/* 2026-10-26 12:00 UTC: the day before had 25 hours */
	span = times_day(1793016000 * SECOND_NS, 1);
	assert_string_equal(utc(span.from_ns), "2026-10-24 22:00:00");
	assert_string_equal(utc(span.to_ns), "2026-10-25 23:00:00");
	span = times_day(1793016000 * SECOND_NS, 0);
	assert_string_equal(utc(span.from_ns), "2026-10-25 23:00:00");
	(void)state;
}

static void what_is_no_time_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		"10",
		"25:00",
		"14:60",
		"2026-13-01",
		"2026-02-30",
		"2026-02-29 14:00",
		"2026-11-31T14:00Z",
		"2026-00-10",
		"2026-11-00",
		"1969-12-31",
		"14:00x",
		"2026-11-20T",
		"..",
		"14:00..",
		"..14:00",
		"noon",
		"1x",
		"2026-11-20 14:00Q",
		"tomorrow",
		"now..10m",
		"10%-20%",
	};
	struct time_span span;

	in_zone("UTC");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (times_parse_range(wrong[i], NOW_NS, &span) != -EINVAL)
			print_error("accepted: '%s'\n", wrong[i]);
		assert_int_equal(times_parse_range(wrong[i], NOW_NS, &span), -EINVAL);
	}
	(void)state;
}

static void seconds_and_parts_of_a_recording_are_no_clock_times(void **state)
{
	assert_true(times_look_like_clock("14:00..14:05"));
	assert_true(times_look_like_clock("14:00"));
	assert_true(times_look_like_clock("2026-11-20"));
	assert_true(times_look_like_clock("yesterday"));
	assert_true(times_look_like_clock("10m..now"));
	assert_false(times_look_like_clock("0%-50%"));
	assert_false(times_look_like_clock("10%/2"));
	assert_false(times_look_like_clock("123.5,130"));
	assert_false(times_look_like_clock("1300,"));
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_time_of_day_is_the_last_one_that_was),
		cmocka_unit_test(dates_and_zones_are_as_in_iso_8601),
		cmocka_unit_test(zones_that_differ_are_one_range),
		cmocka_unit_test(spans_and_words_count_from_now),
		cmocka_unit_test(a_span_before_now_alone_is_the_minute_that_it_was_in),
		cmocka_unit_test(an_end_may_be_still_to_come),
		cmocka_unit_test(days_and_hours_follow_the_clocks_that_change),
		cmocka_unit_test(an_end_that_comes_again_is_the_one_that_was),
		cmocka_unit_test(yesterday_is_a_local_day),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(seconds_and_parts_of_a_recording_are_no_clock_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
