/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks that go on over a copy of a stack.
 */
#include "unwind/copied_walk.h"

#include "base/memory.h"
#include "unit/unit.h"

#include <string.h>

/*
 * One file is mapped at CODE, with a table in the first words of the space: `callee` is called by
 * `caller`, which is called by `start`, the outermost frame. Each has two words of stack below its
 * return address; `by_rbx` has its CFA in rbx.
 */
enum {
	CODE = 0x40000,
	CALLEE = 0x100,
	CALLER = 0x200,
	START = 0x300,
	BY_RBX = 0x400,
	CODE_END = 0x500,
	STACK = 0x7000,
	RULES = 3,
	FIRST_ROW = RULES * UNWIND_RULE_WORDS + 1, /* behind the index */
	ROWS = 5,
	FRAMES_MAX = 8,
};

static u32 words[UNWIND_CHUNK_WORDS];
static struct stack_rest *rest;
static enum code_state state; /* of the file's table */
static u64 awaited_from;      /* offset from which on it is awaited whatever `state` is; 0: none */

static void put_table(void)
{
	const struct unwind_rule rules[RULES] = {
		{.cfa_kind = CFA_REGISTER,
		 .cfa_register = X86_64_SP,
		 .pc_kind = SAVED_AT_CFA,
		 .cfa_offset = 24,
		 .pc_offset = -8},
		{.cfa_kind = CFA_END},
		{.cfa_kind = CFA_REGISTER,
		 .cfa_register = X86_64_RBX,
		 .pc_kind = SAVED_AT_CFA,
		 .cfa_offset = 8,
		 .pc_offset = -8},
	};
	const unwind_row rows[ROWS] = {
		unwind_row_make(CALLEE, 0), unwind_row_make(CALLER, 0),	  unwind_row_make(START, 1),
		unwind_row_make(BY_RBX, 2), unwind_row_make(CODE_END, 1),
	};

	memcpy(words, rules, sizeof(rules));
	words[FIRST_ROW - 1] = FIRST_ROW << UNWIND_COUNT_BITS | ROWS;
	memcpy(words + FIRST_ROW, rows, sizeof(rows));
}

static const u32 *read_chunk(void *context, u32 chunk)
{
	(void)context;
	return chunk ? NULL : words;
}

static enum code_state find_code(void *context, u64 address, struct code_place *ret_place)
{
	(void)context;
	if (address - CODE >= CODE_END)
		return CODE_NOWHERE;
	ret_place->file_offset = address - CODE;
	ret_place->table = (struct unwind_place){.rule_count = RULES, .page_count = 1};
	if (awaited_from && ret_place->file_offset >= awaited_from)
		return CODE_AWAITED;
	return state;
}

static const struct copied_walk_world world = {
	.machine = UNWIND_X86_64,
	.find_code = find_code,
	.read_chunk = read_chunk,
};

static void put_word(u64 address, u64 value)
{
	memcpy(rest->stack + (address - rest->stack_start), &value, sizeof(value));
}

/* Interrupted in `callee`; it and `caller` have been called as they should be. */
static int prepare(void **unused)
{
	rest = must_alloc(sizeof(*rest));
	rest->stack_start = STACK - 64;
	rest->stack_bytes = 64 + 2 * 24;
	rest->frame = (struct unwind_frame){
		.pc = CODE + CALLEE + 8,
		.sp = STACK,
		.is_exact = 1,
		.has_registers = 1,
		.rbx_at = UNWIND_IN_REGISTERS,
	};
	put_word(STACK + 16, CODE + CALLER + 8);
	put_word(STACK + 40, CODE + START + 8);
	put_table();
	state = CODE_READY;
	awaited_from = 0;
	(void)unused;
	return 0;
}

static int clean_up(void **unused)
{
	free(TAKE(rest));
	(void)unused;
	return 0;
}

static void the_walk_goes_on_to_the_outermost_frame(void **unused)
{
	u64 frames[FRAMES_MAX];
	struct copied_walk walk = copied_walk_begin(rest, frames, FRAMES_MAX);

	assert_int_equal(copied_walk_go_on(&walk, &world), END_COMPLETE);
	assert_int_equal(walk.count, 3);
	assert_int_equal(frames[0], CODE + CALLEE + 8);
	assert_int_equal(frames[1], CODE + CALLER + 8);
	assert_int_equal(frames[2], CODE + START + 8);
	assert_int_equal(walk.walked, WALKER_EH_FRAME);
	(void)unused;
}

static void callers_are_where_their_calls_are_if_that_is_wanted(void **unused)
{
	u64 frames[FRAMES_MAX];
	struct copied_walk walk = copied_walk_begin(rest, frames, FRAMES_MAX);

	walk.takes_calls = true;
	assert_int_equal(copied_walk_go_on(&walk, &world), END_COMPLETE);
	assert_int_equal(frames[0], CODE + CALLEE + 8);
	assert_int_equal(frames[1], CODE + CALLER + 7);
	assert_int_equal(frames[2], CODE + START + 7);
	(void)unused;
}

static void a_walk_waits_for_a_table_and_goes_on_from_there(void **unused)
{
	u64 frames[FRAMES_MAX];
	struct copied_walk walk = copied_walk_begin(rest, frames, FRAMES_MAX);

	awaited_from = CALLER;
	assert_int_equal(copied_walk_go_on(&walk, &world), WALK_AWAITS);
	assert_int_equal(copied_walk_go_on(&walk, &world), WALK_AWAITS);
	assert_int_equal(walk.count, 1);
	awaited_from = 0;
	assert_int_equal(copied_walk_go_on(&walk, &world), END_COMPLETE);
	assert_int_equal(walk.count, 3);
	assert_int_equal(frames[2], CODE + START + 8);
	(void)unused;
}

static void no_frame_is_made_up_where_the_copy_ends(void **unused)
{
	u64 frames[FRAMES_MAX];
	struct copied_walk walk = copied_walk_begin(rest, frames, FRAMES_MAX);

	walk.stack.length -= 1; /* of the word that says where `caller` returns to */
	assert_int_equal(copied_walk_go_on(&walk, &world), END_NOT_ANALYSED);
	assert_true(walk.is_missed);
	assert_int_equal(walk.count, 2);
	(void)unused;
}

static void a_return_address_outside_of_code_is_no_frame(void **unused)
{
	u64 frames[FRAMES_MAX];
	struct copied_walk walk = copied_walk_begin(rest, frames, FRAMES_MAX);

	put_word(STACK + 16, 0x123456789);
	assert_int_equal(copied_walk_go_on(&walk, &world), END_NOT_ANALYSED);
	assert_int_equal(walk.count, 1);
	(void)unused;
}

static void code_that_has_no_table_after_all_ends_the_stack(void **unused)
{
	u64 frames[FRAMES_MAX];
	struct copied_walk walk = copied_walk_begin(rest, frames, FRAMES_MAX);

	state = CODE_WITHOUT_TABLE;
	assert_int_equal(copied_walk_go_on(&walk, &world), END_NO_TABLE);
	assert_int_equal(walk.count, 1);
	(void)unused;
}

static void where_the_process_begins_the_stack_is_whole_without_a_rule(void **unused)
{
	u64 frames[FRAMES_MAX];
	struct copied_walk walk = copied_walk_begin(rest, frames, FRAMES_MAX);

	state = CODE_WITHOUT_TABLE;
	walk.stack.first_sp = STACK;
	assert_int_equal(copied_walk_go_on(&walk, &world), END_COMPLETE);
	assert_int_equal(walk.count, 1);
	(void)unused;
}

static void a_stack_deeper_than_wanted_says_so(void **unused)
{
	u64 frames[2];
	struct copied_walk walk = copied_walk_begin(rest, frames, 2);

	assert_int_equal(copied_walk_go_on(&walk, &world), END_TOO_DEEP);
	assert_int_equal(walk.count, 2);
	(void)unused;
}

/* gcc goes on to say where a register was saved when it has been popped. */
static void a_register_that_was_popped_is_in_its_place(void **unused)
{
	enum { POPPED = -32 }; /* from the CFA: 8 below the stack pointer */
	struct unwind_rule *rule = (struct unwind_rule *)words;
	u64 frames[FRAMES_MAX];
	struct copied_walk walk;

	rule->fp_kind = SAVED_AT_CFA;
	rule->fp_offset = POPPED;
	rest->stack_start = STACK;
	rest->stack_bytes = 24;
	rest->frame.fp = 0x77;
	memmove(rest->stack, rest->stack + 64, 24);
	walk = copied_walk_begin(rest, frames, 2);
	copied_walk_go_on(&walk, &world);
	assert_int_equal(walk.count, 2);
	assert_int_equal(frames[1], CODE + CALLER + 8);
	assert_int_equal(walk.frame.fp, 0x77);
	(void)unused;
}

static void what_rbx_was_is_known(void **unused)
{
	u64 frames[FRAMES_MAX];
	struct copied_walk walk;

	rest->frame.pc = CODE + BY_RBX + 8;
	rest->frame.registers[X86_64_RBX] = STACK + 16;
	walk = copied_walk_begin(rest, frames, FRAMES_MAX);
	assert_int_equal(copied_walk_go_on(&walk, &world), END_COMPLETE);
	assert_int_equal(walk.count, 3);
	assert_int_equal(frames[1], CODE + CALLER + 8);
	(void)unused;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, prepare, clean_up)
		TEST(the_walk_goes_on_to_the_outermost_frame),
		TEST(callers_are_where_their_calls_are_if_that_is_wanted),
		TEST(a_walk_waits_for_a_table_and_goes_on_from_there),
		TEST(no_frame_is_made_up_where_the_copy_ends),
		TEST(a_return_address_outside_of_code_is_no_frame),
		TEST(code_that_has_no_table_after_all_ends_the_stack),
		TEST(where_the_process_begins_the_stack_is_whole_without_a_rule),
		TEST(a_stack_deeper_than_wanted_says_so),
		TEST(a_register_that_was_popped_is_in_its_place),
		TEST(what_rbx_was_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
