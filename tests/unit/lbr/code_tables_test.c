/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions whose addresses are written as distances, in tables of this program.
 */
#include "unit/lbr/own_facts.h"

/* Functions that nothing else names, further apart than tables are, and the tables: distances from
 * where the table begins, the same behind keys, each from where it stands, those of a switch, of
 * which the second would lead to `not_meant` from `keys`, and of tables that begin at an odd
 * address, behind two words, and where a pointer says. */
__asm__(".pushsection .text\n"
	".macro function name\n"
	"	.balign 16\n"
	"	.type \\name, @function\n"
	"	.size \\name, 16\n"
	"\\name:\n"
	"	.skip 15, 0x90\n"
	"	ret\n"
	".endm\n"
	".macro apart name\n"
	"	.skip 256, 0xcc\n"
	"	function \\name\n"
	".endm\n"
	"apart in_table\n"
	"apart last_in_table\n"
	"apart behind_key\n"
	"apart at_odd_address\n"
	"apart in_vtable\n"
	"apart by_pointer\n"
	"apart from_itself\n"
	"apart not_meant\n"
	"function switched\n"
	"apart in_no_table\n"
	".popsection\n"
	".pushsection .rodata\n"
	"	.balign 4\n"
	"table:\n"
	"	.long in_table - table, 0, last_in_table - table\n"
	"keys:\n"
	"	.long 1, in_no_table + 5 - keys, 2, behind_key - keys\n"
	"itself:\n"
	"	.long 7, from_itself - .\n"
	"switch:\n"
	"	.long switched + 5 - switch, not_meant - keys\n"
	"	.byte 1\n"
	"odd:\n"
	"	.long at_odd_address - odd\n"
	"	.balign 4\n"
	"vtable:\n"
	"	.long 3, 3, 4, in_vtable - 8 - vtable, 5\n"
	"pointed:\n"
	"	.long 5, by_pointer - pointed\n"
	"	.balign 8\n"
	".popsection\n"
	".pushsection .data\n"
	"	.balign 8\n"
	"pointer:\n"
	"	.quad pointed\n"
	".popsection\n");

/* Takes the addresses of the tables, as code that reads them does. */
static u64 take_addresses(void)
{
	u64 first, second, third, fourth, fifth, sixth;

	__asm__("lea table(%%rip), %0\n"
		"lea keys(%%rip), %1\n"
		"lea itself(%%rip), %2\n"
		"lea switch(%%rip), %3\n"
		"lea odd(%%rip), %4\n"
		"lea vtable(%%rip), %5\n"
		: "=r"(first), "=r"(second), "=r"(third), "=r"(fourth), "=r"(fifth), "=r"(sixth));
	return first ^ second ^ third ^ fourth ^ fifth ^ sixth;
}

static bool is_pointed_at(struct code_facts *facts, const char *name)
{
	return code_facts_is_pointed_at(facts, own_function(facts, name));
}

static void distances_from_where_a_table_begins_point_at_functions(void **state)
{
	assert_true(is_pointed_at(*state, "in_table"));
	assert_true(is_pointed_at(*state, "last_in_table"));
	assert_true(is_pointed_at(*state, "behind_key"));
	assert_true(is_pointed_at(*state, "at_odd_address"));
}

static void a_vtable_begins_behind_what_code_takes_the_address_of(void **state)
{
	assert_true(is_pointed_at(*state, "in_vtable"));
}

static void tables_are_found_by_pointers_in_data(void **state)
{
	assert_true(is_pointed_at(*state, "by_pointer"));
}

static void distances_from_where_they_stand_point_at_functions(void **state)
{
	assert_true(is_pointed_at(*state, "from_itself"));
}

static void words_of_a_switch_are_not_tried_from_elsewhere(void **state)
{
	assert_false(is_pointed_at(*state, "switched"));
	assert_false(is_pointed_at(*state, "not_meant"));
}

static void what_no_word_leads_to_the_start_of_is_not_pointed_at(void **state)
{
	assert_false(is_pointed_at(*state, "in_no_table"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances_from_where_a_table_begins_point_at_functions),
		cmocka_unit_test(a_vtable_begins_behind_what_code_takes_the_address_of),
		cmocka_unit_test(tables_are_found_by_pointers_in_data),
		cmocka_unit_test(distances_from_where_they_stand_point_at_functions),
		cmocka_unit_test(words_of_a_switch_are_not_tried_from_elsewhere),
		cmocka_unit_test(what_no_word_leads_to_the_start_of_is_not_pointed_at),
	};

	return take_addresses()
		       ? cmocka_run_group_tests(tests, own_facts_set_up, own_facts_tear_down)
		       : 1;
}
