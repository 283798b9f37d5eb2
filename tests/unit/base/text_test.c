/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The growing string.
 */
#include "base/memory.h"
#include "base/text.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appending_grows_over_any_capacity),
		cmocka_unit_test(an_empty_text_can_be_seen_and_taken),
		cmocka_unit_test(foreign_bytes_cannot_steer_a_terminal),
		cmocka_unit_test(a_cut_utf8_character_is_escaped),
		cmocka_unit_test(truncating_keeps_the_front),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
