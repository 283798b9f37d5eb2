/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Walks over a copy through code without rules: by frame pointers, entries and signal frames. */
#include "unwind/step_without_rule.h"

#include "unit/unit.h"

#include <string.h>

/*
 * Code of a file without a table at CODE: `CALLED` stands behind a call of a register,
 * `CALLS_RULED` behind one of code with a rule at RULED, `SIGRETURN` is what signal handlers return
 * to. At JIT there is code whose bytes nobody knows.
 */
enum {
	CODE = 0x40000,
	LEAF = CODE + 0x100,
	CALLED = CODE + 0x200,
	CALLS_RULED = CODE + 0x300,
	ENTRY = CODE + 0x400,
	SIGRETURN = CODE + 0x500,
	NOT_CALLED = CODE + 0x600,
	CODE_END = CODE + 0x1000,
	RULED = 0x60000,
	RULED_END = RULED + 0x1000,
	JIT = 0x80000,
	JIT_END = JIT + 0x1000,
	STACK = 0x7000,
	STACK_WORDS = 64,
	FRAMES_MAX = 8,
	SP_IN_SIGNAL_FRAME = 160,
};

static u8 code[CODE_END - CODE + 16];
static u32 words[UNWIND_CHUNK_WORDS];
static u64 stack[STACK_WORDS], frames[FRAMES_MAX];
static struct copied_walk walk;

static enum code_state find_code(void *context, u64 address, struct code_place *ret_place)
{
	(void)context;
	if (address >= CODE && address < CODE_END)
		return CODE_WITHOUT_TABLE;
	if (address >= JIT && address < JIT_END)
		return CODE_ANONYMOUS;
	if (address < RULED || address >= RULED_END)
		return CODE_NOWHERE;
	ret_place->file_offset = address - RULED;
	ret_place->table = (struct unwind_place){.rule_count = 1, .page_count = 1};
	return CODE_READY;
}

static const u32 *read_chunk(void *context, u32 chunk)
{
	(void)context;
	return chunk ? NULL : words;
}

static bool read_code(void *context, u64 address, struct code_around *ret_code)
{
	(void)context;
	if (address >= RULED && address < RULED_END) {
		memset(ret_code, 0x90, sizeof(*ret_code));
		return true;
	}
	if (address < CODE + 8 || address >= CODE_END)
		return false;
	memcpy(ret_code, code + (address - CODE) - 8, sizeof(*ret_code));
	return true;
}

static const struct copied_walk_world world = {
	.machine = UNWIND_X86_64,
	.find_code = find_code,
	.read_code = read_code,
	.read_chunk = read_chunk,
};

static void put_code(u64 address, const char *bytes, size_t length)
{
	memcpy(code + (address - CODE), bytes, length);
}

/* The one rule of RULED: the outermost frame. */
static void put_table(void)
{
	const struct unwind_rule outermost = {.cfa_kind = CFA_END};

	memcpy(words, &outermost, sizeof(outermost));
	words[UNWIND_RULE_WORDS] = (UNWIND_RULE_WORDS + 1) << UNWIND_COUNT_BITS | 1;
	words[UNWIND_RULE_WORDS + 1] = unwind_row_make(0, 0);
}

static int prepare(void **unused)
{
	s32 distance = RULED - CALLS_RULED;

	memset(code, 0x90, sizeof(code));
	memset(stack, 0, sizeof(stack));
	put_code(CALLED - 2, "\xff\xd0", 2);
	put_code(CALLS_RULED - 5, "\xe8", 1);
	memcpy(code + (CALLS_RULED - CODE) - 4, &distance, sizeof(distance));
	put_code(ENTRY, "\x55", 1);
	put_code(SIGRETURN, "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", 9);
	put_table();
	walk = (struct copied_walk){
		.stack = {.start = STACK, .length = sizeof(stack), .bytes = (const u8 *)stack},
		.frame = {.pc = LEAF,
			  .sp = STACK,
			  .fp = STACK + 16,
			  .is_exact = 1,
			  .has_registers = 1,
			  .rbx_at = UNWIND_IN_REGISTERS},
		.doubt = END_NO_TABLE,
		.frames = frames,
		.most = FRAMES_MAX,
	};
	(void)unused;
	return 0;
}

/* Where the innermost frame pointer leads. */
static void put_record(u64 fp, u64 pc)
{
	stack[2] = fp;
	stack[3] = pc;
}

static void a_frame_pointer_is_followed_to_what_lies_behind_a_call(void **unused)
{
	put_record(STACK + 64, CALLED);
	stack[8] = 0;
	stack[9] = RULED + 8;
	assert_int_equal(copied_walk_go_on(&walk, &world), END_NO_TABLE);
	assert_int_equal(walk.count, 2);
	assert_int_equal(frames[1], CALLED);
	assert_int_equal(walk.walked, WALKER_FRAME_POINTER);
	(void)unused;
}

static void what_no_call_stands_before_is_no_frame(void **unused)
{
	put_record(STACK + 64, NOT_CALLED);
	assert_int_equal(copied_walk_go_on(&walk, &world), END_NO_TABLE);
	assert_int_equal(walk.count, 1);
	(void)unused;
}

static void a_frame_that_has_called_other_code_is_not_the_caller(void **unused)
{
	put_record(STACK + 64, CALLS_RULED);
	assert_int_equal(copied_walk_go_on(&walk, &world), END_NO_TABLE);
	assert_int_equal(walk.count, 1);
	(void)unused;
}

static void code_made_at_run_time_is_believed_if_the_chain_goes_on(void **unused)
{
	put_record(STACK + 64, JIT + 8);
	stack[8] = 0;
	stack[9] = CALLED;
	assert_int_equal(copied_walk_go_on(&walk, &world), END_COMPLETE);
	assert_int_equal(walk.count, 3);
	assert_int_equal(frames[1], JIT + 8);

	prepare(NULL);
	put_record(STACK + 4096, JIT + 8);
	assert_int_equal(copied_walk_go_on(&walk, &world), END_NO_TABLE);
	assert_int_equal(walk.count, 1);
	(void)unused;
}

static void a_first_instruction_has_its_caller_on_top_of_the_stack(void **unused)
{
	walk.frame.pc = ENTRY;
	walk.frame.fp = 0;
	stack[0] = CALLED;
	assert_int_equal(copied_walk_go_on(&walk, &world), END_NO_TABLE);
	assert_int_equal(walk.count, 2);
	assert_int_equal(frames[1], CALLED);
	assert_int_equal(walk.walked, 0);
	(void)unused;
}

static void a_signal_frame_without_rule_leads_to_what_was_interrupted(void **unused)
{
	walk.frame.pc = SIGRETURN;
	stack[SP_IN_SIGNAL_FRAME / 8] = STACK + 400;
	stack[SP_IN_SIGNAL_FRAME / 8 + 1] = RULED + 16;
	assert_int_equal(copied_walk_go_on(&walk, &world), END_COMPLETE);
	assert_int_equal(walk.count, 2);
	assert_int_equal(frames[1], RULED + 16);
	assert_true(walk.frame.is_exact);
	(void)unused;
}

static void without_the_code_nothing_is_guessed(void **unused)
{
	struct copied_walk_world blind = world;

	blind.read_code = NULL;
	put_record(STACK + 64, CALLED);
	assert_int_equal(copied_walk_go_on(&walk, &blind), END_NO_TABLE);
	assert_int_equal(walk.count, 1);
	(void)unused;
}

static void what_lies_above_the_copy_is_noticed_and_what_lies_below_is_not(void **unused)
{
	u64 word = 7;

	assert_false(copied_word(&walk, STACK - 8, &word));
	assert_false(walk.is_missed);
	assert_false(copied_word(&walk, STACK + sizeof(stack) - 7, &word));
	assert_true(walk.is_missed);
	assert_int_equal(word, 7);
	(void)unused;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, prepare)
		TEST(a_frame_pointer_is_followed_to_what_lies_behind_a_call),
		TEST(what_no_call_stands_before_is_no_frame),
		TEST(a_frame_that_has_called_other_code_is_not_the_caller),
		TEST(code_made_at_run_time_is_believed_if_the_chain_goes_on),
		TEST(a_first_instruction_has_its_caller_on_top_of_the_stack),
		TEST(a_signal_frame_without_rule_leads_to_what_was_interrupted),
		TEST(without_the_code_nothing_is_guessed),
		TEST(what_lies_above_the_copy_is_noticed_and_what_lies_below_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
