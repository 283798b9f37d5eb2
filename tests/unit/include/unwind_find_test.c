/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Look-ups in the words of a table, wherever it lies in the space of words.
 */
#include "bpfprof/unwind_find.h"

#include "unit/map_file.h"
#include "unit/unit.h"
#include "unwind/unwind.h"

#include <string.h>

enum { RULES_MAX = 1 << 16 };

/* A space of words with one table in it. */
struct space {
	struct rule_set rules;
	struct unwind_table *table;
	struct table_words words;
	u32 *chunks;
	u32 chunk_count;
	u32 missing; /* a chunk that cannot be read; ~0: none */
};

static void space_release(struct space *space)
{
	rule_set_release(&space->rules);
	unwind_table_free(space->table);
	table_words_release(&space->words);
	free(space->chunks);
}

static const u32 *read_chunk(void *context, u32 chunk)
{
	const struct space *space = context;

	if (chunk >= space->chunk_count || chunk == space->missing)
		return NULL;
	return &space->chunks[(size_t)chunk * UNWIND_CHUNK_WORDS];
}

static struct space space_of(const char *path)
{
	CLEANUP(file_unmap) struct bytes image = {0};
	struct space space = {.missing = ~0U};

	assert_int_equal(map_file(path, &image), 0);
	rule_set_init(&space.rules);
	assert_int_equal(unwind_table_read(image, &space.rules, RULES_MAX, &space.table), 0);
	assert_int_equal(table_words_make(space.table, &space.rules, &space.words), 0);
	return space;
}

/* Puts the table at this word. */
static void place_at(struct space *space, u32 first_word)
{
	space->words.place.first_word = first_word;
	space->chunk_count = (first_word + space->words.word_count) / UNWIND_CHUNK_WORDS + 1;
	free(space->chunks);
	space->chunks = must_alloc_array(space->chunk_count, UNWIND_CHUNK_WORDS * sizeof(u32));
	memcpy(space->chunks + first_word, space->words.words,
	       space->words.word_count * sizeof(u32));
}

static void assert_found(struct space *space, u64 offset)
{
	u32 number = unwind_table_find(space->table, offset);
	const struct unwind_rule *rule = unwind_find(&space->words.place, offset, read_chunk,
						     space);
	static const struct unwind_rule none;

	assert_memory_equal(rule ? rule : &none, &space->rules.rules.items[number], sizeof(*rule));
}

/* The edges of every row of every `step`th page. */
static void assert_rows_found(struct space *space, u32 step)
{
	const struct unwind_table *table = space->table;

	for (u32 page = 0; page < table->page_count; page += step) {
		u64 start = (u64)(table->first_page + page) << UNWIND_PAGE_BITS;

		for (u32 i = table->page_rows[page]; i < table->page_rows[page + 1]; i++) {
			u64 offset = start + (table->rows[i] >> UNWIND_RULE_BITS);

			assert_found(space, offset);
			assert_found(space, offset + 1);
			assert_found(space, offset ? offset - 1 : 0);
		}
	}
}

static void every_row_is_found_wherever_the_table_lies(void **state)
{
	CLEANUP(space_release) struct space space = space_of("/proc/self/exe");

	for (u32 first = 0; first < 2 * UNWIND_CHUNK_WORDS; first += 19 * UNWIND_RULE_WORDS) {
		place_at(&space, first);
		assert_rows_found(&space, 1);
	}
	(void)state;
}

static void what_lies_outside_of_the_table_has_no_rule(void **state)
{
	CLEANUP(space_release) struct space space = space_of("/proc/self/exe");
	const struct unwind_place *place = &space.words.place;
	u64 end = (u64)(space.table->first_page + space.table->page_count) << UNWIND_PAGE_BITS;

	place_at(&space, 400);
	assert_null(unwind_find(place, end, read_chunk, &space));
	assert_null(unwind_find(place, ~0ULL, read_chunk, &space));
	assert_null(unwind_find(place, ((u64)place->first_page << UNWIND_PAGE_BITS) - 1, read_chunk,
				&space));
	(void)state;
}

static void a_chunk_that_is_gone_gives_no_rule(void **state)
{
	CLEANUP(space_release) struct space space = space_of("/proc/self/exe");
	u64 offset = ((u64)space.table->first_page << UNWIND_PAGE_BITS) + 0xfff;

	place_at(&space, 0);
	assert_non_null(unwind_find(&space.words.place, offset, read_chunk, &space));
	space.missing = 0;
	assert_null(unwind_find(&space.words.place, offset, read_chunk, &space));
	(void)state;
}

/* One page of `count` rows, at odd offsets, each with a rule of its own. */
static void make_page(struct space *space, u32 count)
{
	struct unwind_table *table = must_alloc(sizeof(*table));

	*space = (struct space){.table = table, .missing = ~0U};
	rule_set_init(&space->rules);
	table->first_page = 3;
	table->page_count = 1;
	table->row_count = count;
	table->page_rows = must_alloc_array(2, sizeof(u32));
	table->page_rows[1] = count;
	table->rows = must_alloc_array(count, sizeof(u32));
	for (u32 i = 0; i < count; i++) {
		struct unwind_rule rule = {.cfa_kind = CFA_REGISTER, .cfa_offset = (s32)i};

		table->rows[i] = unwind_row_make(2 * i + 1,
						 rule_set_add(&space->rules, &rule, RULES_MAX));
	}
	assert_int_equal(table_words_make(table, &space->rules, &space->words), 0);
}

static void pages_of_any_number_of_rows_are_searched(void **state)
{
	static const u32 counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 511, 512, 513, UNWIND_PAGE_ROWS_MAX};

	for (size_t i = 0; i < ARRAY_COUNT(counts); i++) {
		CLEANUP(space_release) struct space space;

		make_page(&space, counts[i]);
		for (u32 first = 0; first < UNWIND_CHUNK_WORDS; first += 12) {
			place_at(&space, first);
			assert_rows_found(&space, 1);
		}
		/* Before the first row of the page nothing holds. */
		assert_null(
			unwind_find(&space.words.place, 3 << UNWIND_PAGE_BITS, read_chunk, &space));
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_found_wherever_the_table_lies),
		cmocka_unit_test(what_lies_outside_of_the_table_has_no_rule),
		cmocka_unit_test(a_chunk_that_is_gone_gives_no_rule),
		cmocka_unit_test(pages_of_any_number_of_rows_are_searched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
