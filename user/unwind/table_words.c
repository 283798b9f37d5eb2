/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules, index and rows, one behind the other, in words.
 */
#include "unwind/table_words.h"

#include <errno.h>
#include <string.h>

_Static_assert(sizeof(struct unwind_rule) == UNWIND_RULE_WORDS * sizeof(u32),
	       "a rule is a whole number of words");

static u32 rows_of_page(const struct unwind_table *table, u32 page)
{
	return table->page_rows[page + 1] - table->page_rows[page];
}

/* How many rows will be written for a page. */
static u32 rows_kept(const struct unwind_table *table, u32 page)
{
	u32 rows = rows_of_page(table, page);

	return rows > UNWIND_PAGE_ROWS_MAX ? UNWIND_PAGE_ROWS_MAX : rows;
}

/* All sizes come from the file, so the sum may be larger than 32 bits. */
static u64 count_words(const struct unwind_table *table, const struct rule_set *rules)
{
	u64 words = (u64)rules->rules.count * UNWIND_RULE_WORDS + table->page_count;

	for (u32 page = 0; page < table->page_count; page++)
		words += rows_kept(table, page);
	return words;
}

/* Writes the index word and the rows of one page; `next` is the first word that is free. */
static void write_page(struct table_words *words, const struct unwind_table *table, u32 page,
		       u32 *next)
{
	u32 rows = rows_kept(table, page);
	u32 index = words->place.rule_count * UNWIND_RULE_WORDS + page, *last;

	words->words[index] = *next << UNWIND_COUNT_BITS | rows;
	memcpy(words->words + *next, table->rows + table->page_rows[page], rows * sizeof(u32));
	if (rows < rows_of_page(table, page)) {
		last = &words->words[*next + rows - 1];
		*last = unwind_row_make(*last >> UNWIND_RULE_BITS, RULE_UNSUPPORTED);
		words->dense_pages++;
	}
	*next += rows;
	words->row_count += rows;
}

int table_words_make(const struct unwind_table *table, const struct rule_set *rules,
		     struct table_words *ret_words)
{
	u64 count = count_words(table, rules);
	struct table_words words = {.word_count = (u32)count};
	u32 next;

	if (!table->row_count)
		return -ENODATA;
	if (count > UNWIND_TABLE_WORDS_MAX)
		return -E2BIG;
	words.words = must_resize_array(NULL, count, sizeof(u32));
	words.place = (struct unwind_place){
		.rule_count = (u32)rules->rules.count,
		.first_page = table->first_page,
		.page_count = table->page_count,
	};
	memcpy(words.words, rules->rules.items, rules->rules.count * sizeof(struct unwind_rule));
	next = words.place.rule_count * UNWIND_RULE_WORDS + words.place.page_count;
	for (u32 page = 0; page < table->page_count; page++)
		write_page(&words, table, page, &next);
	*ret_words = words;
	return 0;
}

void table_words_release(struct table_words *words)
{
	free(words->memory ? words->memory : words->words);
	*words = (struct table_words){0};
}
