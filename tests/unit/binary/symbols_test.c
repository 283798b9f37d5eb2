/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sorted symbols: which name an address gets.
 */
#include "binary/symbols.h"
#include "unit/unit.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

static void add(struct symbols *symbols, u64 start, u64 end, const char *name, u8 binding)
{
	symbols_add(symbols, &(struct symbol){start, end, name, .binding = binding});
}

static const char *name_at(const struct symbols *symbols, u64 address)
{
	const struct symbol *symbol = symbols_find(symbols, address);

	return symbol ? symbol->name : "(none)";
}

static void an_empty_table_holds_nothing(void **state)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();

	(void)state;
	assert_null(symbols_find(symbols, 0));
	symbols_finish(symbols);
	assert_null(symbols_find(symbols, 0));
	assert_null(symbols_find(symbols, UINT64_MAX));
	assert_int_equal(symbols_count(symbols), 0);
}

static void ends_are_exclusive_and_gaps_have_no_name(void **state)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();

	(void)state;
	add(symbols, 300, 310, "c", SYMBOL_GLOBAL);
	add(symbols, 100, 110, "a", SYMBOL_GLOBAL);
	add(symbols, 110, 120, "b", SYMBOL_GLOBAL);
	symbols_finish(symbols);
	assert_string_equal(name_at(symbols, 99), "(none)");
	assert_string_equal(name_at(symbols, 100), "a");
	assert_string_equal(name_at(symbols, 109), "a");
	assert_string_equal(name_at(symbols, 110), "b");
	assert_string_equal(name_at(symbols, 120), "(none)");
	assert_string_equal(name_at(symbols, 309), "c");
	assert_string_equal(name_at(symbols, 310), "(none)");
}

static void every_size_of_table_is_searched_right(void **state)
{
	(void)state;
	for (u64 count = 1; count < 70; count++) {
		CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();

		for (u64 i = 0; i < count; i++) {
			u64 scattered = i * 7919 % count;
			char name[16];

			snprintf(name, sizeof(name), "%llu", (unsigned long long)scattered);
			add(symbols, 1000 + scattered * 10, 1005 + scattered * 10, name, 0);
		}
		symbols_finish(symbols);
		assert_int_equal(symbols_count(symbols), count);
		for (u64 address = 990; address < 1010 + count * 10; address++) {
			const struct symbol *symbol = symbols_find(symbols, address);
			bool inside = address >= 1000 && address < 1000 + count * 10 &&
				      address % 10 < 5;

			assert_int_equal(symbol != NULL, inside);
			if (symbol)
				assert_int_equal(symbol->start, address / 10 * 10);
		}
	}
}

static void a_symbol_without_size_ends_at_the_next_or_with_its_page(void **state)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();

	(void)state;
	add(symbols, 0x1100, 0, "first", SYMBOL_GLOBAL);
	add(symbols, 0x1200, 0, "last", SYMBOL_GLOBAL);
	symbols_finish(symbols);
	assert_string_equal(name_at(symbols, 0x11ff), "first");
	assert_string_equal(name_at(symbols, 0x2fff), "last");
	assert_string_equal(name_at(symbols, 0x3000), "(none)");
}

static void the_innermost_of_nested_symbols_wins_and_the_outer_goes_on_behind(void **state)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();

	(void)state;
	add(symbols, 100, 200, "outer", SYMBOL_GLOBAL);
	add(symbols, 120, 160, "middle", SYMBOL_LOCAL);
	add(symbols, 130, 140, "inner", SYMBOL_LOCAL);
	add(symbols, 170, 175, "second", SYMBOL_LOCAL);
	symbols_finish(symbols);
	assert_string_equal(name_at(symbols, 119), "outer");
	assert_string_equal(name_at(symbols, 129), "middle");
	assert_string_equal(name_at(symbols, 135), "inner");
	assert_string_equal(name_at(symbols, 150), "middle");
	assert_string_equal(name_at(symbols, 165), "outer");
	assert_string_equal(name_at(symbols, 172), "second");
	assert_string_equal(name_at(symbols, 199), "outer");
	assert_string_equal(name_at(symbols, 200), "(none)");
}

/* Of two symbols with these properties at one address, the first is to be shown, in either order.
 */
static void prefers(const struct symbol *winner, const struct symbol *loser)
{
	for (int order = 0; order < 2; order++) {
		CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();

		symbols_add(symbols, order ? winner : loser);
		symbols_add(symbols, order ? loser : winner);
		symbols_finish(symbols);
		assert_int_equal(symbols_count(symbols), 1);
		assert_string_equal(name_at(symbols, 100), winner->name);
	}
}

static void among_names_of_one_address_perfs_order_decides(void **state)
{
	(void)state;
	prefers(&(struct symbol){100, 110, "local", .binding = SYMBOL_LOCAL},
		&(struct symbol){100, 110, "weak_one", .binding = SYMBOL_WEAK});
	prefers(&(struct symbol){100, 110, "g", .binding = SYMBOL_GLOBAL},
		&(struct symbol){100, 110, "local", .binding = SYMBOL_LOCAL});
	prefers(&(struct symbol){100, 110, "_x", .binding = SYMBOL_GLOBAL},
		&(struct symbol){100, 110, "__longer", .binding = SYMBOL_GLOBAL});
	prefers(&(struct symbol){100, 110, "longer", .binding = SYMBOL_GLOBAL},
		&(struct symbol){100, 110, "long", .binding = SYMBOL_GLOBAL});
	/* f() reads "f": shorter than "fun", though its mangled name is longer */
	prefers(&(struct symbol){100, 110, "fun", .binding = SYMBOL_GLOBAL},
		&(struct symbol){100, 110, "_Z1fv", .binding = SYMBOL_GLOBAL});
	prefers(&(struct symbol){100, 110, "sys_read", .binding = SYMBOL_GLOBAL},
		&(struct symbol){100, 110, "SyS_read", .binding = SYMBOL_GLOBAL});
}

static void a_symbol_with_a_size_goes_before_one_without(void **state)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();

	(void)state;
	add(symbols, 100, 0, "global_but_empty", SYMBOL_GLOBAL);
	add(symbols, 100, 110, "sized", SYMBOL_WEAK);
	symbols_finish(symbols);
	assert_string_equal(name_at(symbols, 100), "sized");
}

static void groups_do_not_reach_into_each_other(void **state)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();

	(void)state;
	symbols_add(symbols, &(struct symbol){0x1000, 0, "kernel", .group = 0});
	symbols_add(symbols, &(struct symbol){0x9000, 0, "module", .group = 1});
	symbols_finish(symbols);
	assert_string_equal(name_at(symbols, 0x1fff), "kernel");
	assert_string_equal(name_at(symbols, 0x2000), "(none)");
}

static void what_is_settled_stays_when_more_is_added(void **state)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();

	(void)state;
	add(symbols, 100, 0, "open_end", SYMBOL_GLOBAL);
	add(symbols, 200, 210, "next", SYMBOL_GLOBAL);
	symbols_finish(symbols);
	add(symbols, 150, 160, "later", SYMBOL_GLOBAL);
	symbols_finish(symbols);
	assert_string_equal(name_at(symbols, 155), "later");
	assert_string_equal(name_at(symbols, 170), "open_end");
}

static void what_is_added_later_takes_its_places_among_the_settled(void **state)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();
	enum { COUNT = 3000 };
	u64 last = 0;

	(void)state;
	/* Three times a third of all, each in no order. */
	for (u64 third = 0; third < 3; third++) {
		for (u64 i = third; i < COUNT; i += 3) {
			u64 start = i * 7919 % COUNT * 0x10001;

			add(symbols, start, start + 0x10001, i % 2 ? "odd" : "even", SYMBOL_GLOBAL);
		}
		symbols_settle(symbols);
	}
	symbols_finish(symbols);
	assert_int_equal(symbols_count(symbols), COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(symbols_at(symbols, i)->order, i);
		assert_int_equal(symbols_at(symbols, i)->start, last);
		last += 0x10001;
	}
	for (u64 i = 0; i < COUNT; i++)
		assert_string_equal(name_at(symbols, i * 7919 % COUNT * 0x10001 + 5),
				    i % 2 ? "odd" : "even");
}

static void of_two_that_are_equally_good_the_settled_one_stays(void **state)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();

	(void)state;
	add(symbols, 300, 310, "third", SYMBOL_GLOBAL);
	add(symbols, 100, 110, "strong", SYMBOL_GLOBAL);
	symbols_settle(symbols);
	add(symbols, 200, 210, "second", SYMBOL_GLOBAL);
	add(symbols, 100, 110, "weak_one", SYMBOL_WEAK);
	add(symbols, 300, 320, "other", SYMBOL_GLOBAL); /* as long as the first, which stays */
	symbols_finish(symbols);
	assert_int_equal(symbols_count(symbols), 3);
	assert_string_equal(name_at(symbols, 100), "strong");
	assert_string_equal(name_at(symbols, 305), "third");
	assert_string_equal(name_at(symbols, 315), "(none)");
}

static void of_two_without_a_size_one_ends_when_all_is_settled_again(void **state)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();

	(void)state;
	add(symbols, 100, 0, "one", SYMBOL_GLOBAL);
	add(symbols, 100, 0, "another", SYMBOL_GLOBAL);
	add(symbols, 200, 210, "next", SYMBOL_GLOBAL);
	symbols_settle(symbols);
	symbols_finish(symbols);
	assert_string_equal(name_at(symbols, 150), "another");
}

static void the_top_of_the_address_space_does_not_wrap(void **state)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();

	(void)state;
	add(symbols, UINT64_MAX - 1, 0, "last", SYMBOL_GLOBAL);
	add(symbols, UINT64_MAX - 100, 5, "end_before_start", SYMBOL_GLOBAL);
	symbols_finish(symbols);
	assert_string_equal(name_at(symbols, UINT64_MAX - 1), "last");
	assert_string_equal(name_at(symbols, UINT64_MAX - 50), "end_before_start");
	assert_null(symbols_find(symbols, 0));
}

static void a_table_nested_beyond_reason_stays_fast(void **state)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();
	enum { COUNT = 20000 };

	(void)state;
	for (u64 i = 0; i < COUNT; i++)
		add(symbols, i, 2 * COUNT - i, "x", SYMBOL_GLOBAL);
	symbols_finish(symbols);
	/* would be 400 million steps if each look-up walked all that hold it */
	for (u64 i = 0; i < COUNT; i++)
		symbols_find(symbols, 2 * COUNT - 1 - i);
	assert_non_null(symbols_find(symbols, COUNT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_table_holds_nothing),
		cmocka_unit_test(ends_are_exclusive_and_gaps_have_no_name),
		cmocka_unit_test(every_size_of_table_is_searched_right),
		cmocka_unit_test(a_symbol_without_size_ends_at_the_next_or_with_its_page),
		cmocka_unit_test(the_innermost_of_nested_symbols_wins_and_the_outer_goes_on_behind),
		cmocka_unit_test(among_names_of_one_address_perfs_order_decides),
		cmocka_unit_test(a_symbol_with_a_size_goes_before_one_without),
		cmocka_unit_test(groups_do_not_reach_into_each_other),
		cmocka_unit_test(what_is_settled_stays_when_more_is_added),
		cmocka_unit_test(what_is_added_later_takes_its_places_among_the_settled),
		cmocka_unit_test(of_two_that_are_equally_good_the_settled_one_stays),
		cmocka_unit_test(of_two_without_a_size_one_ends_when_all_is_settled_again),
		cmocka_unit_test(the_top_of_the_address_space_does_not_wrap),
		cmocka_unit_test(a_table_nested_beyond_reason_stays_fast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
