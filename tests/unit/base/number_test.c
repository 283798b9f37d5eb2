/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Quantities with units, in and out.
 */
#include "base/memory.h"
#include "base/number.h"
#include "unit/unit.h"

#include <errno.h>

static void whole_numbers_are_read_in_three_bases(void **state)
{
	u64 value = 0;

	assert_int_equal(number_parse_u64("4999", &value), 0);
	assert_int_equal(value, 4999);
	assert_int_equal(number_parse_u64("0x1f", &value), 0);
	assert_int_equal(value, 31);
	assert_int_equal(number_parse_u64("18446744073709551615", &value), 0);
	assert_true(value == UINT64_MAX);
	(void)state;
}

static void what_is_no_number_is_refused_and_changes_nothing(void **state)
{
	static const char *const wrong[] = {"", "-1", "+1", " 1", "1 ", "99x", "x", "0x"};
	u64 value = 7;

	for (size_t i = 0; i < ARRAY_COUNT(wrong); i++)
		assert_int_equal(number_parse_u64(wrong[i], &value), -EINVAL);
	assert_int_equal(number_parse_u64("18446744073709551616", &value), -ERANGE);
	assert_int_equal(value, 7);
	(void)state;
}

static void a_small_number_has_an_upper_end(void **state)
{
	u32 value = 7;

	assert_int_equal(number_parse_u32("4294967296", &value), -ERANGE);
	assert_int_equal(value, 7);
	assert_int_equal(number_parse_u32("4294967295", &value), 0);
	assert_true(value == UINT32_MAX);
	(void)state;
}

static void sizes_take_letters_in_every_usual_form(void **state)
{
	static const struct {
		const char *text;
		u64 bytes;
	} rows[] = {
		{"4096", 4096},	       {"512B", 512},  {"4k", 4096},	    {"4K", 4096},
		{"4KB", 4096},	       {"4KiB", 4096}, {"2M", 2 * 1048576}, {"1.5G", 1610612736},
		{"1T", 1099511627776}, {"0.5k", 512},
	};
	static const char *const wrong[] = {"", "M", "4X", "4MM", "-4M", "4 M", "4Ki"};
	u64 bytes = 0;

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		assert_int_equal(number_parse_bytes(rows[i].text, &bytes), 0);
		assert_true(bytes == rows[i].bytes);
	}
	for (size_t i = 0; i < ARRAY_COUNT(wrong); i++)
		assert_int_equal(number_parse_bytes(wrong[i], &bytes), -EINVAL);
	assert_int_equal(number_parse_bytes("99999999999T", &bytes), -ERANGE);
	(void)state;
}

static void times_take_units_and_a_bare_number_is_seconds(void **state)
{
	static const struct {
		const char *text;
		u64 ns;
	} rows[] = {
		{"10", 10000000000},   {"10s", 10000000000},	{"1.5m", 90000000000},
		{"250ms", 250000000},  {"3us", 3000},		{"17ns", 17},
		{"1h", 3600000000000}, {"7d", 604800000000000}, {"0.25", 250000000},
		{".5s", 500000000},
	};
	static const char *const wrong[] = {"", "s", "10x", "1m30", "-1s", "1 s", "."};
	u64 ns = 0;

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		assert_int_equal(number_parse_duration(rows[i].text, &ns), 0);
		assert_true(ns == rows[i].ns);
	}
	for (size_t i = 0; i < ARRAY_COUNT(wrong); i++)
		assert_int_equal(number_parse_duration(wrong[i], &ns), -EINVAL);
	assert_int_equal(number_parse_duration("99999999999d", &ns), -ERANGE);
	(void)state;
}

static void percentages_end_at_a_hundred(void **state)
{
	double percent = 7;

	assert_int_equal(number_parse_percent("101", &percent), -ERANGE);
	assert_int_equal(number_parse_percent("nan", &percent), -EINVAL);
	assert_int_equal(number_parse_percent("-1", &percent), -EINVAL);
	assert_true(percent == 7);
	assert_int_equal(number_parse_percent("0.5%", &percent), 0);
	assert_true(percent == 0.5);
	assert_int_equal(number_parse_percent("100", &percent), 0);
	assert_true(percent == 100);
	(void)state;
}

static void time_stamps_stay_exact_to_the_nanosecond(void **state)
{
	u64 ns = 0;

	assert_int_equal(number_parse_timestamp("12345678.123456789", &ns), 0);
	assert_true(ns == 12345678123456789);
	assert_int_equal(number_parse_timestamp("7", &ns), 0);
	assert_true(ns == 7000000000);
	assert_int_equal(number_parse_timestamp("7s", &ns), -EINVAL);
	(void)state;
}

static void lists_come_out_ascending_and_without_doubles(void **state)
{
	static const u32 expected[] = {0, 1, 2, 3, 7};
	CLEANUP(freep) u32 *ids = NULL;
	size_t count = 0;

	assert_int_equal(number_parse_list("7,1-3,0-2", 7, &ids, &count), 0);
	assert_int_equal(count, ARRAY_COUNT(expected));
	assert_memory_equal(ids, expected, sizeof(expected));
	(void)state;
}

static void a_broken_list_is_refused(void **state)
{
	static const char *const wrong[] = {"", ",", "1,", ",1", "3-1", "1-", "-1", "a", "1 2"};
	u32 *ids = NULL;
	size_t count = 7;

	for (size_t i = 0; i < ARRAY_COUNT(wrong); i++)
		assert_int_equal(number_parse_list(wrong[i], 9, &ids, &count), -EINVAL);
	assert_int_equal(number_parse_list("0-10", 9, &ids, &count), -ERANGE);
	assert_int_equal(number_parse_list("0-4294967295", UINT32_MAX, &ids, &count), -ERANGE);
	assert_int_equal(number_parse_list("99999999999999999999", UINT32_MAX, &ids, &count),
			 -ERANGE);
	assert_null(ids);
	assert_int_equal(count, 7);
	(void)state;
}

static void counts_are_written_in_groups_of_three(void **state)
{
	char text[NUMBER_TEXT_BYTES];

	assert_string_equal(number_format_count(0, text), "0");
	assert_string_equal(number_format_count(999, text), "999");
	assert_string_equal(number_format_count(3812, text), "3 812");
	assert_string_equal(number_format_count(UINT64_MAX, text), "18 446 744 073 709 551 615");
	(void)state;
}

static void sizes_are_written_with_one_decimal(void **state)
{
	char text[NUMBER_TEXT_BYTES];

	assert_string_equal(number_format_bytes(999, text), "999 B");
	assert_string_equal(number_format_bytes(4200000, text), "4.2 MB");
	assert_string_equal(number_format_bytes(999960, text), "1.0 MB");
	assert_string_equal(number_format_bytes(UINT64_MAX, text), "18.4 EB");
	(void)state;
}

static void times_are_written_in_the_unit_that_fits(void **state)
{
	char text[NUMBER_TEXT_BYTES];

	assert_string_equal(number_format_duration(0, text), "0 ns");
	assert_string_equal(number_format_duration(4100, text), "4.1 us");
	assert_string_equal(number_format_duration(870000000, text), "870 ms");
	assert_string_equal(number_format_duration(999600000, text), "1.0 s");
	assert_string_equal(number_format_duration(12340000000, text), "12.3 s");
	assert_string_equal(number_format_duration(59960000000, text), "1 min 00 s");
	assert_string_equal(number_format_duration(312000000000, text), "5 min 12 s");
	assert_string_equal(number_format_duration(7380000000000, text), "2 h 03 min");
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers_are_read_in_three_bases),
		cmocka_unit_test(what_is_no_number_is_refused_and_changes_nothing),
		cmocka_unit_test(a_small_number_has_an_upper_end),
		cmocka_unit_test(sizes_take_letters_in_every_usual_form),
		cmocka_unit_test(times_take_units_and_a_bare_number_is_seconds),
		cmocka_unit_test(percentages_end_at_a_hundred),
		cmocka_unit_test(time_stamps_stay_exact_to_the_nanosecond),
		cmocka_unit_test(lists_come_out_ascending_and_without_doubles),
		cmocka_unit_test(a_broken_list_is_refused),
		cmocka_unit_test(counts_are_written_in_groups_of_three),
		cmocka_unit_test(sizes_are_written_with_one_decimal),
		cmocka_unit_test(times_are_written_in_the_unit_that_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
