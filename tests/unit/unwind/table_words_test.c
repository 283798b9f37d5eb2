/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Words of unwind tables: what was put in is found again, in no more room than was promised.
 */
#include "unit/map_file.h"
#include "unit/unit.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <string.h>

enum { RULES_MAX = 1 << 16 };

/* A table with its words, as a recording holds it. */
struct made {
	struct rule_set rules;
	struct unwind_table *table;
	struct table_words words;
};

static void made_release(struct made *made)
{
	rule_set_release(&made->rules);
	unwind_table_free(made->table);
	table_words_release(&made->words);
}

/* The number of the rule at a place, by the words alone: one index word, then the page's rows. */
static u32 find_in_words(const struct table_words *words, u64 file_offset)
{
	u64 page = (file_offset >> UNWIND_PAGE_BITS) - words->place.first_page;
	u32 in_page = file_offset & ((1 << UNWIND_PAGE_BITS) - 1), index, first, found = RULE_NONE;

	if (page >= words->place.page_count)
		return RULE_NONE;
	index = words->words[words->place.rule_count * UNWIND_RULE_WORDS + page];
	first = index >> UNWIND_COUNT_BITS;
	for (u32 i = 0; i < (index & UNWIND_PAGE_ROWS_MAX); i++) {
		assert_true(first + i < words->word_count);
		if (words->words[first + i] >> UNWIND_RULE_BITS <= in_page)
			found = unwind_row_rule(words->words[first + i]);
	}
	return found;
}

/* Reads a binary. Returns false if this machine does not have it. */
static bool make(const char *path, struct made *made)
{
	CLEANUP(file_unmap) struct bytes image = {0};

	*made = (struct made){0};
	if (map_file(path, &image))
		return false;
	rule_set_init(&made->rules);
	assert_int_equal(unwind_table_read(image, &made->rules, RULES_MAX, &made->table), 0);
	assert_int_equal(table_words_make(made->table, &made->rules, &made->words), 0);
	return true;
}

static const char *const binaries[] = {
	"/proc/self/exe",
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib/aarch64-linux-gnu/libc.so.6",
	"/usr/bin/python3.11",
	"/usr/lib/gcc/x86_64-linux-gnu/12/cc1",
	"/lib/x86_64-linux-gnu/libLLVM-14.so.1",
};

static void assert_every_row_found(const struct made *made)
{
	const struct unwind_table *table = made->table;

	for (u32 page = 0; page < table->page_count; page++) {
		u64 start = (u64)(table->first_page + page) << UNWIND_PAGE_BITS;

		for (u32 i = table->page_rows[page]; i < table->page_rows[page + 1]; i++) {
			u64 offset = start + (table->rows[i] >> UNWIND_RULE_BITS);

			assert_int_equal(find_in_words(&made->words, offset),
					 unwind_row_rule(table->rows[i]));
		}
	}
}

static void every_row_is_found_again(void **state)
{
	for (size_t i = 0; i < 4; i++) { /* the larger ones would show nothing else */
		CLEANUP(made_release) struct made made;

		if (!make(binaries[i], &made))
			continue;
		assert_every_row_found(&made);
		assert_memory_equal(made.words.words, made.rules.rules.items,
				    made.rules.rules.count * sizeof(struct unwind_rule));
		assert_int_equal(made.words.dense_pages, 0);
	}
	(void)state;
}

static void what_lies_outside_of_the_text_has_no_rule(void **state)
{
	CLEANUP(made_release) struct made made;

	assert_true(make("/proc/self/exe", &made));
	assert_int_equal(find_in_words(&made.words, 0), RULE_NONE);
	assert_int_equal(find_in_words(&made.words, ~0ULL), RULE_NONE);
	(void)state;
}

static void a_row_takes_little_more_than_four_bytes_with_rules_and_index(void **state)
{
	for (size_t i = 0; i < ARRAY_COUNT(binaries); i++) {
		CLEANUP(made_release) struct made made;

		/* Our own text is small: 200 rules of 16 bytes would stand out. */
		if (!make(binaries[i], &made) || made.words.row_count < 20000)
			continue;
		print_message("# %s: %u rows, %zu rules, %.2f bytes a row\n", binaries[i],
			      made.words.row_count, made.rules.rules.count,
			      4.0 * made.words.word_count / made.words.row_count);
		assert_true(4.0 * made.words.word_count / made.words.row_count <= 4.3);
	}
	(void)state;
}

/* A table of `page_count` pages with `rows` rows in the first and one in each other. */
static void make_up(struct made *made, u32 page_count, u32 rows)
{
	struct unwind_table *table = must_alloc(sizeof(*table));

	*made = (struct made){.table = table};
	rule_set_init(&made->rules);
	table->first_page = 7;
	table->page_count = page_count;
	table->row_count = rows + page_count - 1;
	table->page_rows = must_alloc_array(page_count + 1, sizeof(u32));
	table->rows = must_alloc_array(table->row_count, sizeof(u32));
	for (u32 page = 1; page <= page_count; page++)
		table->page_rows[page] = rows + page - 1;
	for (u32 i = 0; i < rows; i++)
		table->rows[i] = unwind_row_make(i, i % 2 ? RULE_UNSUPPORTED : RULE_NONE);
}

static void what_does_not_fit_of_a_page_says_unsupported(void **state)
{
	CLEANUP(made_release) struct made made;
	u64 page = 7 << UNWIND_PAGE_BITS, last = UNWIND_PAGE_ROWS_MAX - 1;

	make_up(&made, 3, UNWIND_PAGE_ROWS_MAX + 10);
	assert_int_equal(table_words_make(made.table, &made.rules, &made.words), 0);
	assert_int_equal(made.words.dense_pages, 1);
	assert_int_equal(made.words.row_count, UNWIND_PAGE_ROWS_MAX + 2);
	assert_int_equal(find_in_words(&made.words, page + last - 2), RULE_NONE);
	assert_int_equal(find_in_words(&made.words, page + last - 1), RULE_UNSUPPORTED);
	for (u64 at = last; at < 1 << UNWIND_PAGE_BITS; at++)
		assert_int_equal(find_in_words(&made.words, page + at), RULE_UNSUPPORTED);
	assert_int_equal(find_in_words(&made.words, (8 << UNWIND_PAGE_BITS) + 4), RULE_NONE);
	(void)state;
}

static void a_page_with_as_many_rows_as_an_index_word_counts_is_kept(void **state)
{
	CLEANUP(made_release) struct made made;

	make_up(&made, 3, UNWIND_PAGE_ROWS_MAX);
	assert_int_equal(table_words_make(made.table, &made.rules, &made.words), 0);
	assert_int_equal(made.words.dense_pages, 0);
	assert_every_row_found(&made);
	(void)state;
}

static void a_table_that_the_index_cannot_reach_is_refused(void **state)
{
	CLEANUP(made_release) struct made fits;
	CLEANUP(made_release) struct made large;
	u32 most = (UNWIND_TABLE_WORDS_MAX - 2 * UNWIND_RULE_WORDS) / 2;

	make_up(&fits, most, 1);
	assert_int_equal(table_words_make(fits.table, &fits.rules, &fits.words), 0);
	assert_int_equal(fits.words.word_count, UNWIND_TABLE_WORDS_MAX);
	make_up(&large, most + 1, 1);
	assert_int_equal(table_words_make(large.table, &large.rules, &large.words), -E2BIG);
	(void)state;
}

static void a_table_without_rows_is_none(void **state)
{
	struct unwind_table table = {0};
	struct table_words words;
	struct rule_set rules;

	rule_set_init(&rules);
	assert_int_equal(table_words_make(&table, &rules, &words), -ENODATA);
	rule_set_release(&rules);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_found_again),
		cmocka_unit_test(what_lies_outside_of_the_text_has_no_rule),
		cmocka_unit_test(a_row_takes_little_more_than_four_bytes_with_rules_and_index),
		cmocka_unit_test(what_does_not_fit_of_a_page_says_unsupported),
		cmocka_unit_test(a_page_with_as_many_rows_as_an_index_word_counts_is_kept),
		cmocka_unit_test(a_table_that_the_index_cannot_reach_is_refused),
		cmocka_unit_test(a_table_without_rows_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
