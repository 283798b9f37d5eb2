/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The growing string.
 */
#include "base/memory.h"
#include "base/text.h"

#include "base/memory.h"
#include "bpfprof/types.h"
#include "unit/unit.h"

static void appending_grows_over_any_capacity(void **state)
{
	struct text text = {0};

	for (int i = 0; i < 1000; i++)
		text_appendf(&text, "%d,", i);
	assert_int_equal(text.length, 10 * 2 + 90 * 3 + 900 * 4);
	assert_memory_equal(text_view(&text) + text.length - 4, "999,", 5);
	text_release(&text);
	(void)state;
}

static void an_empty_text_can_be_seen_and_taken(void **state)
{
	struct text text = {0};
	CLEANUP(freep) char *taken = NULL;

	assert_string_equal(text_view(&text), "");
	taken = text_take(&text);
	assert_string_equal(taken, "");
	(void)state;
}

static void foreign_bytes_cannot_steer_a_terminal(void **state)
{
	struct text text = {0};

	text_append_printable(&text, "a\x1b[31mb\n\x7f\xc2\x9b\xff z\xc3\xbc");
	assert_string_equal(text_view(&text), "a\\x1b[31mb\\x0a\\x7f\\xc2\\x9b\\xff z\xc3\xbc");
	text_release(&text);
	(void)state;
}

static void a_cut_utf8_character_is_escaped(void **state)
{
	struct text text = {0};

	text_append_printable(&text, "x\xe2\x82");
	assert_string_equal(text_view(&text), "x\\xe2\\x82");
	text_release(&text);
	(void)state;
}

static void truncating_keeps_the_front(void **state)
{
	struct text text = {0};

	text_append(&text, "callgraph");
	text_truncate(&text, 4);
	text_truncate(&text, 40);
	assert_string_equal(text_view(&text), "call");
	text_release(&text);
	(void)state;
}

static void padding_fills_up_to_the_width(void **state)
{
	struct text text = {0};

	text_append_padded(&text, "ab", 4);
	text_append_padded(&text, NULL, 2);
	text_append_padded(&text, "longer", 3);
	assert_string_equal(text_view(&text), "ab    longer");
	text_release(&text);
	(void)state;
}

static void assert_as_printf(struct text *text, int width, double value)
{
	char wanted[400];

	snprintf(wanted, sizeof(wanted), "%*.2f", width, value);
	text_truncate(text, 0);
	text_append_hundredths(text, width, value);
	assert_string_equal(text_view(text), wanted);
}

static void hundredths_are_printf_s_to_the_last_digit(void **state)
{
	static const double values[] = {0,	    100,    0.125,  0.375,
					0.005,	    1.005,  2.675,  99.995,
					99.985,	    1e-300, 5e-324, 0.004999999999999999,
					999999.995, 1e6,    -1.5,   1e300};
	struct text text = {0};

	for (size_t i = 0; i < ARRAY_COUNT(values); i++)
		for (int width = 0; width < 9; width += 4)
			assert_as_printf(&text, width, values[i]);
	for (u32 part = 0; part <= 8192; part++) {
		assert_as_printf(&text, 6, part * 100.0 / 8192);
		assert_as_printf(&text, 6, part * 100.0 / 8191);
		assert_as_printf(&text, 6, part * 0.005);
	}
	text_release(&text);
	(void)state;
}

static void addresses_are_printf_s_to_the_last_digit(void **state)
{
	static const unsigned long long values[] = {
		0, 1, 0xf, 0x10, 0xabcdef, 0x7fffffffffff, 0xffffffff81000000, ~0ull};
	static const int digits[] = {0, 1, 5, 16};

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		for (size_t k = 0; k < sizeof(digits) / sizeof(*digits); k++) {
			struct text text = {0};
			char expected[32];

			snprintf(expected, sizeof(expected), "%#.*llx", digits[k], values[i]);
			text_append_address(&text, digits[k], values[i]);
			assert_string_equal(text_view(&text), expected);
			text_release(&text);
		}
	}
	(void)state;
}

static void hexadecimal_is_printf_s_in_any_width(void **state)
{
	static const unsigned long long values[] = {0, 1, 0xf, 0x10, 0xffffffff81000000, ~0ull};
	static const int widths[] = {1, 5, 16, 18};

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		for (size_t k = 0; k < sizeof(widths) / sizeof(*widths); k++) {
			struct text text = {0};
			char expected[32];

			snprintf(expected, sizeof(expected), "%*llx", widths[k], values[i]);
			text_append_hex(&text, widths[k], values[i]);
			assert_string_equal(text_view(&text), expected);
			text_release(&text);
		}
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appending_grows_over_any_capacity),
		cmocka_unit_test(an_empty_text_can_be_seen_and_taken),
		cmocka_unit_test(foreign_bytes_cannot_steer_a_terminal),
		cmocka_unit_test(a_cut_utf8_character_is_escaped),
		cmocka_unit_test(truncating_keeps_the_front),
		cmocka_unit_test(padding_fills_up_to_the_width),
		cmocka_unit_test(hundredths_are_printf_s_to_the_last_digit),
		cmocka_unit_test(addresses_are_printf_s_to_the_last_digit),
		cmocka_unit_test(hexadecimal_is_printf_s_in_any_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
