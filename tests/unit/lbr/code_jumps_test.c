/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Jumps from function to function that are found without reading the functions: that they are those
 * that reading finds.
 */
#include "lbr/code_facts.h"
#include "unit/code_image_at.h"

#include <dlfcn.h>
#include <stdlib.h>

enum { SHORT_BYTES = 130 }; /* a jump with one byte of distance, and itself */

static struct code_facts *facts_of(const char *path)
{
	struct code_image image = code_image_at(path);

	return code_facts_new(&image, false, NULL);
}

/* Whether reading finds a way from one function into another one. */
static bool leads_into(struct code_facts *facts, u32 from, u32 to)
{
	struct code_function function = *code_facts_read_function(facts, from);

	for (u32 i = 0; i < function.exit_count; i++) {
		const struct code_exit *exit = &facts->exits.items[function.exit_first + i];

		if (!exit->slot && code_facts_function(facts, exit->target) == to)
			return true;
	}
	return false;
}

/* Nobody asks of gaps and entries of a PLT. */
static bool is_code(const struct code_facts *facts, u32 row)
{
	return row < facts->functions.count &&
	       !(facts->functions.items[row].flags & (FUNCTION_IS_GAP | FUNCTION_IS_STUB));
}

/* Every way out that is no short jump is found. Returns how many there are. */
static u32 find_exits(struct code_facts *facts, u32 from)
{
	struct code_function function = *code_facts_read_function(facts, from);
	u32 found = 0;

	for (u32 i = 0; i < function.exit_count; i++) {
		struct code_exit exit = facts->exits.items[function.exit_first + i];
		u32 to = code_facts_function(facts, exit.target);
		bool is_near = exit.target + SHORT_BYTES >= function.start &&
			       exit.target < function.end + SHORT_BYTES;

		if (exit.slot || to == NO_FUNCTION || is_near)
			continue;
		assert_true(code_facts_jumps_into(facts, from, to));
		found++;
	}
	return found;
}

/* What is found is there. */
static void check_neighbours(struct code_facts *facts, u32 from)
{
	for (u32 to = from > 8 ? from - 8 : 0; to < from + 8; to++)
		if (to != from && is_code(facts, to) && code_facts_jumps_into(facts, from, to))
			assert_true(leads_into(facts, from, to));
}

static void jumps_are_found_that_reading_finds(void **state)
{
	Dl_info library;
	struct code_facts *facts;
	u32 found = 0;

	assert_true(dladdr((void *)(uintptr_t)qsort, &library));
	facts = facts_of(library.dli_fname);
	for (u32 row = 0; row < facts->functions.count; row++) {
		if (!is_code(facts, row) ||
		    !function_rules_bound(facts->rules, facts->functions.items[row].start))
			continue;
		found += find_exits(facts, row);
		check_neighbours(facts, row);
	}
	assert_true(found > 100);
	code_facts_free(facts);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jumps_are_found_that_reading_finds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
