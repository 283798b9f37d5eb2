/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kinds of code, against what is known of each of its addresses.
 */
#include "base/memory.h"
#include "lbr/code_facts.h"
#include "unit/code_image_at.h"

enum { BLOCK_BYTES = 16, FUNCTIONS_EVERY = 7, FUNCTION_MOST_BYTES = 2048 };

/* Whether all addresses of a block are in this function, and their frames alike. */
static bool is_one(const struct code_facts *facts, u64 first, u32 function)
{
	struct code_frame wanted = code_facts_frame(facts, first);

	for (u64 at = first; at < first + BLOCK_BYTES; at++) {
		struct code_frame frame = code_facts_frame(facts, at);

		if (code_facts_function(facts, at) != function || frame.pointer != wanted.pointer ||
		    frame.is_outermost != wanted.is_outermost ||
		    frame.is_signal != wanted.is_signal)
			return false;
	}
	return true;
}

/* Of a function's blocks, how many are of one kind. */
static u32 compare_function(struct code_facts *facts, u32 row)
{
	const struct code_function *function = &facts->functions.items[row];
	u64 first = (function->start + BLOCK_BYTES - 1) & ~(u64)(BLOCK_BYTES - 1);
	u32 found = 0, last_kind = 0;
	struct code_frame last = {0};

	for (u64 at = first; at + BLOCK_BYTES <= function->end && at < first + FUNCTION_MOST_BYTES;
	     at += BLOCK_BYTES) {
		struct code_frame frame = code_facts_frame(facts, at);
		u32 kind = code_facts_find_kind(facts, at + at / BLOCK_BYTES % BLOCK_BYTES);

		assert_int_equal(code_facts_kind(facts, at), kind);
		if (kind == KIND_MIXED)
			continue;
		assert_true(is_one(facts, at, row));
		if (last_kind)
			assert_int_equal(kind == last_kind, frame.pointer == last.pointer);
		last_kind = kind;
		last = frame;
		found++;
	}
	return found;
}

static void a_kind_is_that_of_all_addresses_of_a_block(void **state)
{
	struct code_image image = code_image_at("/proc/self/exe");
	struct code_facts *facts;
	u32 found = 0;

	facts = code_facts_new(&image, false, NULL);
	assert_int_equal(code_facts_kind(facts, facts->functions.items[0].start), KIND_NOT_ASKED);
	for (u32 row = 0; row < facts->functions.count; row += FUNCTIONS_EVERY)
		if (!(facts->functions.items[row].flags & FUNCTION_IS_GAP))
			found += compare_function(facts, row);
	assert_true(found > 200);
	code_facts_free(facts);
	(void)state;
}

static void nothing_is_one_kind_outside_of_code(void **state)
{
	struct code_image image = code_image_at("/proc/self/exe");
	struct code_facts *facts;

	facts = code_facts_new(&image, false, NULL);
	assert_int_equal(code_facts_find_kind(facts, 0), KIND_MIXED);
	assert_int_equal(code_facts_find_kind(facts, ~0ULL), KIND_MIXED);
	assert_int_equal(code_facts_kind(facts, ~0ULL), KIND_MIXED);
	code_facts_free(facts);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kind_is_that_of_all_addresses_of_a_block),
		cmocka_unit_test(nothing_is_one_kind_outside_of_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
