/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Words of foreign text, and the numbers that they are.
 */
#include "base/words.h"

#include "base/memory.h"
#include "unit/unit.h"

static struct bytes text_of(const char *text)
{
	return (struct bytes){(const u8 *)text, strlen(text)};
}

static void assert_text(struct bytes bytes, const char *text)
{
	assert_int_equal(bytes.length, strlen(text));
	assert_memory_equal(bytes.start, text, bytes.length);
}

static void words_end_with_the_separator_or_the_text(void **state)
{
	struct bytes text = text_of("one  three\n");
	struct bytes line = word_take(&text, '\n');

	assert_text(line, "one  three");
	assert_text(text, "");
	assert_text(word_take(&line, ' '), "one");
	assert_text(word_take(&line, ' '), "");
	assert_text(word_take(&line, ' '), "three");
	assert_text(word_take(&line, ' '), "");
	(void)state;
}

static void a_prefix_is_dropped_once_and_blanks_are_all(void **state)
{
	struct bytes word = text_of("0x0x  7");

	assert_true(word_drop(&word, "0x"));
	assert_text(word, "0x  7");
	assert_false(word_drop(&word, "0x  77"));
	assert_true(word_drop(&word, "0x"));
	word_drop_blanks(&word);
	assert_text(word, "7");
	(void)state;
}

static void only_digits_that_fit_make_a_number(void **state)
{
	static const struct {
		const char *word;
		unsigned int base;
		bool is_number;
		u64 value;
	} rows[] = {
		{"0", 10, true, 0},
		{"18446744073709551615", 10, true, UINT64_MAX},
		{"18446744073709551616", 10, false, 0},
		{"fffFFFFFffffffff", 16, true, UINT64_MAX},
		{"0000000000000000000000aB", 16, true, 0xab},
		{"10000000000000000", 16, false, 0},
		{"12a", 10, false, 0},
		{"12g", 16, false, 0},
		{"@", 16, false, 0},
		{"-1", 10, false, 0},
		{"", 10, false, 0},
	};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		u64 value = 0;

		assert_int_equal(word_number(text_of(rows[i].word), rows[i].base, &value),
				 rows[i].is_number);
		if (rows[i].is_number)
			assert_true(value == rows[i].value);
	}
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_end_with_the_separator_or_the_text),
		cmocka_unit_test(a_prefix_is_dropped_once_and_blanks_are_all),
		cmocka_unit_test(only_digits_that_fit_make_a_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
