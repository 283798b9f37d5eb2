/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Callers that are kept: that they answer as the code did, of this file only, and whole.
 */
#include "base/memory.h"
#include "lbr/code_callers.h"
#include "lbr/kept_callers.h"
#include "unit/code_image_at.h"

#include <errno.h>
#include <string.h>

enum { STATE = 4711, HEADER_BYTES = 56 };

/* Keeps one block in memory. */
struct memory {
	u8 *bytes;
	size_t length;
	u32 asked, kept;
};

static int find_block(void *context, const struct build_id *id, struct bytes *ret_block)
{
	struct memory *memory = context;
	u8 *copy;

	assert_true(id->length > 0);
	memory->asked++;
	if (!memory->bytes)
		return -ENOENT;
	copy = must_alloc(memory->length + 1);
	memcpy(copy, memory->bytes, memory->length);
	*ret_block = (struct bytes){copy, memory->length};
	return 0;
}

static void keep_block(void *context, const struct build_id *id, u64 rows, struct bytes block)
{
	struct memory *memory = context;

	assert_true(id->length > 0 && rows > 0);
	free(memory->bytes);
	memory->bytes = must_alloc(block.length);
	memcpy(memory->bytes, block.start, block.length);
	memory->length = block.length;
	memory->kept++;
}

/* This program as a file in a state. */
static struct code_facts *own_facts(struct memory *memory, u64 state)
{
	const struct lbr_keeper keeper = {find_block, keep_block, memory, 1};
	struct code_image image = code_image_at("/proc/self/exe");

	assert_true(image.id.length > 0);
	image.state = state;
	return code_facts_new(&image, false, memory ? &keeper : NULL);
}

/* What the code says is kept. */
static struct code_facts *found_and_kept(struct memory *memory)
{
	const struct lbr_keeper keeper = {find_block, keep_block, memory, 1};
	struct code_facts *facts = own_facts(memory, STATE);

	assert_false(facts->has_callers);
	code_callers_find(facts);
	kept_callers_keep(facts, &keeper);
	assert_int_equal(memory->kept, 1);
	return facts;
}

static bool is_taken(struct memory *memory, u64 state)
{
	struct code_facts *facts = own_facts(memory, state);
	bool has_callers = facts->has_callers;

	/* What is not believed has left nothing behind. */
	for (size_t i = 0; i < facts->functions.count && !has_callers; i++) {
		assert_int_equal(facts->functions.items[i].calls, 0);
		assert_int_equal(facts->functions.items[i].jumps_from, NO_FUNCTION);
	}
	code_facts_free(facts);
	return has_callers;
}

static void what_is_kept_answers_as_the_code_did(void **state)
{
	const u32 flags = FUNCTION_IS_GAP | FUNCTION_IS_STUB | FUNCTION_IS_POINTED_AT;
	struct memory memory = {0};
	struct code_facts *found = found_and_kept(&memory), *kept = own_facts(&memory, STATE);
	u32 called = 0, jumped_to = 0;

	assert_true(kept->has_callers);
	assert_null(kept->callers_search);
	assert_int_equal(kept->functions.count, found->functions.count);
	for (u32 i = 0; i < kept->functions.count; i++) {
		const struct code_function *a = &found->functions.items[i];
		const struct code_function *b = &kept->functions.items[i];

		assert_int_equal(a->calls, b->calls);
		assert_int_equal(a->call, b->call);
		assert_int_equal(a->jumps_from, b->jumps_from);
		assert_int_equal(a->has_jumps, b->has_jumps);
		assert_int_equal(a->has_many, b->has_many);
		assert_int_equal(a->flags & flags, b->flags & flags);
		assert_int_equal(code_facts_only_call(found, i), code_facts_only_call(kept, i));
		called += a->calls == 1;
		jumped_to += a->has_jumps;
	}
	assert_true(called > 20 && jumped_to > 5);
	code_facts_free(found);
	code_facts_free(kept);
	free(memory.bytes);
	(void)state;
}

static void what_was_kept_is_not_kept_again(void **state)
{
	struct memory memory = {0};
	const struct lbr_keeper keeper = {find_block, keep_block, &memory, 1};
	struct code_facts *facts;

	code_facts_free(found_and_kept(&memory));
	facts = own_facts(&memory, STATE);
	kept_callers_keep(facts, &keeper);
	assert_int_equal(memory.kept, 1);
	code_facts_free(facts);
	free(memory.bytes);
	(void)state;
}

static void a_file_in_another_state_is_another_one(void **state)
{
	struct memory memory = {0};

	code_facts_free(found_and_kept(&memory));
	assert_true(is_taken(&memory, STATE));
	assert_false(is_taken(&memory, STATE + 1));
	free(memory.bytes);
	(void)state;
}

/* Nor one whose state is not known, or without a build id. */
static void nothing_is_kept_of_what_cannot_be_told_apart(void **state)
{
	struct memory memory = {0};
	const struct lbr_keeper keeper = {find_block, keep_block, &memory, 1};
	struct code_facts *facts = own_facts(&memory, 0);

	code_callers_find(facts);
	kept_callers_keep(facts, &keeper);
	facts->image.state = STATE;
	facts->image.id.length = 0;
	kept_callers_keep(facts, &keeper);
	assert_int_equal(memory.asked, 0);
	assert_int_equal(memory.kept, 0);
	code_facts_free(facts);
	(void)state;
}

static void what_is_cut_or_of_others_is_not_believed(void **state)
{
	struct memory memory = {0};

	code_facts_free(found_and_kept(&memory));
	for (u32 i = 0; i < HEADER_BYTES; i++) {
		memory.bytes[i] ^= 1;
		assert_false(is_taken(&memory, STATE));
		memory.bytes[i] ^= 1;
	}
	while (memory.length--) {
		assert_false(is_taken(&memory, STATE));
		memory.length /= 3;
		if (!memory.length)
			break;
	}
	free(memory.bytes);
	(void)state;
}

/* Puts a number into each of three columns, or a byte into the fourth, of the middle row. */
static void assert_nonsense(struct memory *memory, u32 column, u32 value)
{
	size_t rows = (memory->length - HEADER_BYTES) / 13, row = rows / 2;
	u8 *at = memory->bytes + HEADER_BYTES + column * rows * sizeof(u32) +
		 (column < 3 ? row * sizeof(u32) : row);
	size_t bytes = column < 3 ? sizeof(u32) : 1;
	u8 before[sizeof(u32)];

	memcpy(before, at, bytes);
	memcpy(at, &value, bytes);
	assert_false(is_taken(memory, STATE));
	memcpy(at, before, bytes);
}

static void rows_that_cannot_be_are_not_believed(void **state)
{
	struct memory memory = {0};
	size_t rows;

	code_facts_free(found_and_kept(&memory));
	rows = (memory.length - HEADER_BYTES) / 13;
	assert_nonsense(&memory, 1, ~0U);
	assert_nonsense(&memory, 2, (u32)rows);
	assert_nonsense(&memory, 2, ~1U);
	assert_nonsense(&memory, 3, 8);
	assert_nonsense(&memory, 3, 0xff);
	assert_nonsense(&memory, 3, 2);
	assert_true(is_taken(&memory, STATE));
	free(memory.bytes);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_kept_answers_as_the_code_did),
		cmocka_unit_test(what_was_kept_is_not_kept_again),
		cmocka_unit_test(a_file_in_another_state_is_another_one),
		cmocka_unit_test(nothing_is_kept_of_what_cannot_be_told_apart),
		cmocka_unit_test(what_is_cut_or_of_others_is_not_believed),
		cmocka_unit_test(rows_that_cannot_be_are_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
