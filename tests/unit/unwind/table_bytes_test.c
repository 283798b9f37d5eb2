/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables from a process that is not trusted: those that are sound come through, others do not.
 */
#include "unit/map_file.h"
#include "unit/unit.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum {
	RULES_MAX = 1 << 16,
	/* words of the head, in its order */
	WORD_COUNT = 0,
	ROW_COUNT,
	DENSE_PAGES,
	RULE_COUNT,
	FIRST_PAGE,
	PAGE_COUNT,
	HEAD_WORDS,
};

static struct table_words words; /* of this program */
static struct text sound;

static int set_up(void **state)
{
	CLEANUP(unwind_table_freep) struct unwind_table *table = NULL;
	CLEANUP(rule_set_release) struct rule_set rules;
	CLEANUP(file_unmap) struct bytes image = {0};
	int error;

	(void)state;
	if (map_file("/proc/self/exe", &image))
		return -1;
	rule_set_init(&rules);
	error = unwind_table_read(image, &rules, RULES_MAX, &table);
	if (!error)
		error = table_words_make(table, &rules, &words);
	if (!error)
		table_bytes_put(&words, &sound);
	return error;
}

static int tear_down(void **state)
{
	(void)state;
	table_words_release(&words);
	text_release(&sound);
	return 0;
}

static int take(const void *bytes, size_t length)
{
	CLEANUP(table_words_release) struct table_words taken = {0};
	u8 *copy = (u8 *)must_copy_bytes(bytes, length);
	int error = table_bytes_take(copy, length, &taken);

	if (error)
		free(copy);
	return error;
}

/* With one word of the whole set to a value. */
static int take_with(size_t word, u32 value)
{
	CLEANUP(freep) u32 *bytes = must_alloc(sound.length);

	memcpy(bytes, sound.bytes, sound.length);
	bytes[word] = value;
	return take(bytes, sound.length);
}

static void a_sound_table_comes_through(void **state)
{
	CLEANUP(table_words_release) struct table_words taken = {0};

	(void)state;
	assert_int_equal(table_bytes_take((u8 *)must_copy_bytes(sound.bytes, sound.length),
					  sound.length, &taken),
			 0);
	assert_int_equal(taken.word_count, words.word_count);
	assert_int_equal(taken.row_count, words.row_count);
	assert_memory_equal(taken.words, words.words, words.word_count * sizeof(u32));
	assert_memory_equal(&taken.place, &words.place, sizeof(words.place));
}

static void what_is_cut_does_not(void **state)
{
	(void)state;
	for (size_t length = 0; length < 2 * HEAD_WORDS * sizeof(u32); length++)
		assert_int_equal(take(sound.bytes, length), -EBADMSG);
	assert_int_equal(take(sound.bytes, sound.length - 1), -EBADMSG);
}

static void numbers_that_lead_out_of_the_table_do_not(void **state)
{
	static const u32 large[] = {0x10000, 0x3fffffff, 0x40000000, 0x7fffffff, ~0u};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(large); i++) {
		assert_int_equal(take_with(WORD_COUNT, large[i]), -EBADMSG);
		assert_int_equal(take_with(ROW_COUNT, words.word_count + large[i] % 8), -EBADMSG);
		assert_int_equal(take_with(RULE_COUNT, large[i]), -EBADMSG);
		assert_int_equal(take_with(PAGE_COUNT, large[i]), -EBADMSG);
		assert_int_equal(take_with(DENSE_PAGES, large[i]), -EBADMSG);
	}
}

static void rows_outside_and_rules_that_are_none_do_not(void **state)
{
	size_t rules = HEAD_WORDS;
	size_t index = rules + words.place.rule_count * (size_t)UNWIND_RULE_WORDS;
	size_t row = index + words.place.page_count;
	struct unwind_rule rule;
	u32 first;

	(void)state;
	assert_int_equal(take_with(index, ~0u), -EBADMSG);
	assert_int_equal(take_with(index, words.word_count << UNWIND_COUNT_BITS | 1), -EBADMSG);
	assert_int_equal(take_with(row, words.place.rule_count), -EBADMSG);
	memcpy(&rule, words.words + (size_t)2 * UNWIND_RULE_WORDS, sizeof(rule));
	rule.cfa_kind = CFA_PLT + 1;
	memcpy(&first, &rule, sizeof(first));
	assert_int_equal(take_with(rules + (size_t)2 * UNWIND_RULE_WORDS, first), -EBADMSG);
	rule.cfa_kind = CFA_REGISTER;
	rule.cfa_register = UNWIND_REGISTERS;
	memcpy(&first, &rule, sizeof(first));
	assert_int_equal(take_with(rules + (size_t)2 * UNWIND_RULE_WORDS, first), -EBADMSG);
}

/* Whatever a bit says: it is refused, or nothing is read but the table (under ASan). */
static void no_bit_leads_outside(void **state)
{
	size_t step = sound.length / 2000 | 1;

	(void)state;
	for (size_t at = 0; at < sound.length; at += step) {
		sound.bytes[at] = (char)(sound.bytes[at] ^ 1 << at % 8);
		(void)take(sound.bytes, sound.length);
		sound.bytes[at] = (char)(sound.bytes[at] ^ 1 << at % 8);
	}
	assert_int_equal(take(sound.bytes, sound.length), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sound_table_comes_through),
		cmocka_unit_test(what_is_cut_does_not),
		cmocka_unit_test(numbers_that_lead_out_of_the_table_do_not),
		cmocka_unit_test(rows_outside_and_rules_that_are_none_do_not),
		cmocka_unit_test(no_bit_leads_outside),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
