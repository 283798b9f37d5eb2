/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The LBR simulator's registers and true stacks, by calls and returns written down by hand. */
#include "lbr_simulator/model.h"

#include "unit/unit.h"

#include <stdlib.h>
#include <string.h>

enum {
	STACK = 0x1000, /* the program has two stacks, a mapping each */
	OTHER_STACK = 0x3000,
	STACK_BYTES = 0x1000,
	MEMORY_BYTES = OTHER_STACK + STACK_BYTES - STACK,
	HEADER_WORDS = 8, /* of a sample's record, the header included */
};

static u64 memory[MEMORY_BYTES]; /* a word at each address */

static void *allocate(size_t bytes)
{
	return calloc(1, bytes);
}

static void release(void *bytes)
{
	free(bytes);
}

static bool read_word(u64 address, u64 *ret_value)
{
	if (address < STACK || address >= STACK + MEMORY_BYTES)
		return false;
	*ret_value = memory[address - STACK];
	return true;
}

static bool find_mapping(u64 address, u64 *ret_start, u64 *ret_end)
{
	*ret_start = address / STACK_BYTES * STACK_BYTES;
	*ret_end = *ret_start + STACK_BYTES;
	return true;
}

/* What is looked at is in the model still. */
static void forget(const void *bytes, size_t count)
{
	(void)bytes, (void)count;
}

static const struct machine machine = {
	.allocate = allocate,
	.release = release,
	.read = read_word,
	.find_mapping = find_mapping,
	.write = forget,
};

static struct model model;
static struct thread thread;

static int begin(void **state)
{
	model = (struct model){.machine = &machine};
	thread = (struct thread){.tid = 1};
	memset(memory, 0, sizeof(memory));
	model_start(&model, 1, 1000, 1);
	(void)state;
	return 0;
}

static void free_frames(struct frame *frame)
{
	while (frame) {
		struct frame *caller = frame->caller;

		free(frame);
		frame = caller;
	}
}

static int end(void **state)
{
	free_frames(thread.top);
	for (u32 i = 0; i < thread.parked_count; i++)
		free_frames(thread.parked[i]);
	(void)state;
	return 0;
}

/* A call in the function at `from`, to the one at `to`; calls are five bytes long. */
static void call(u64 from, u64 to, u64 slot)
{
	memory[slot - STACK] = from + 5;
	model_call(&model, &thread, (struct call){from, to}, from + 5, slot);
}

/* `count` calls in a row; the n-th is at address n * 0x10 and eight bytes below the one before. */
static void call_many(u64 count, u64 slot)
{
	for (u64 i = 1; i <= count; i++)
		call(i * 0x10, (i + 1) * 0x10 - 8, slot - i * 8);
}

/* What a sample says. */
struct sampled {
	s64 depth, lowest;
	u64 held[RING_SIZES];
	u64 entries, callers;
	const u64 *entry, *caller; /* two and three words each */
};

static struct sampled sample(u64 sp)
{
	struct sampled sampled = {0};
	const u64 *words;

	model.log_words = 0;
	model_sample(&model, &thread, 0x7777, sp, 0);
	words = model.log;
	assert_int_equal(words[0] & 0xff, LOG_SAMPLE);
	assert_int_equal(words[0] >> 8, model.log_words - 1);
	assert_int_equal(words[3], 0x7777);
	sampled.depth = words[4];
	sampled.lowest = words[5];
	for (int i = 0; i < RING_SIZES; i++)
		sampled.held[i] = words[6] >> (i * 8) & 0xff;
	sampled.entries = words[7] & 0xffff;
	sampled.callers = words[7] >> 16 & 0xffffffff;
	sampled.entry = words + HEADER_WORDS;
	sampled.caller = sampled.entry + 2 * sampled.entries;
	return sampled;
}

static void calls_are_kept_newest_first(void **state)
{
	struct sampled sampled;

	call(0x100, 0x200, 0x1f00);
	call(0x210, 0x300, 0x1ef0);
	sampled = sample(0x1ef0);

	assert_int_equal(sampled.depth, 2);
	assert_int_equal(sampled.entries, 2);
	assert_int_equal(sampled.entry[0], 0x210);
	assert_int_equal(sampled.entry[1], 0x300);
	assert_int_equal(sampled.entry[2], 0x100);
	assert_int_equal(sampled.callers, 2);
	assert_int_equal(sampled.caller[0], 0x210);
	assert_int_equal(sampled.caller[2], 0x215);
	(void)state;
}

static void each_size_overwrites_its_oldest(void **state)
{
	struct sampled sampled;

	call_many(40, 0x1f00);
	sampled = sample(0x1f00 - 40 * 8);

	assert_int_equal(sampled.held[0], 8);
	assert_int_equal(sampled.held[1], 16);
	assert_int_equal(sampled.held[2], 32);
	assert_int_equal(sampled.held[3], 40);
	assert_int_equal(sampled.callers, 40);
	(void)state;
}

static void what_was_overwritten_does_not_come_back(void **state)
{
	struct sampled sampled;

	call_many(40, 0x1f00);
	for (u64 i = 40; i > 6; i--)
		model_return(&model, &thread, 0x1f00 - i * 8);
	sampled = sample(0x1f00 - 6 * 8);

	assert_int_equal(sampled.depth, 6);
	assert_int_equal(sampled.held[2], 0); /* 32 of 40 were there; 34 returned */
	assert_int_equal(sampled.held[3], 6);
	assert_int_equal(sampled.callers, 6);
	(void)state;
}

static void a_return_from_an_empty_ring_moves_the_top_down(void **state)
{
	struct sampled sampled;

	model_return(&model, &thread, 0x1f00);
	model_return(&model, &thread, 0x1f08);
	call(0x100, 0x200, 0x1f08);
	sampled = sample(0x1f08);

	assert_int_equal(sampled.depth, -1);
	assert_int_equal(sampled.lowest, -2);
	assert_int_equal(sampled.held[0], 1);
	assert_int_equal(sampled.entry[0], 0x100);
	(void)state;
}

static void a_call_to_the_next_instruction_is_no_call(void **state)
{
	struct sampled sampled;

	call(0x100, 0x105, 0x1f00);
	sampled = sample(0x1f08);

	assert_int_equal(sampled.depth, 0);
	assert_int_equal(sampled.callers, 0);
	(void)state;
}

static void jumping_out_leaves_the_registers_and_ends_the_frames(void **state)
{
	struct sampled sampled;

	call_many(10, 0x1f00);
	sampled = sample(0x1f00 - 3 * 8); /* as after longjmp() */

	assert_int_equal(sampled.entries, 10);
	assert_int_equal(sampled.callers, 3);
	assert_int_equal(sampled.caller[0], 0x30);
	(void)state;
}

static void a_signal_pushes_nothing_and_its_return_pops(void **state)
{
	struct sampled inside, ending, after;

	call_many(2, 0x1f00);
	model_signal(&model, &thread, (struct call){0x28, 0x900}, 0x1ef0, 0x1e00);
	inside = sample(0x1e00);
	assert_int_equal(inside.entries, 2);
	assert_int_equal(inside.callers, 3);
	assert_true(inside.caller[0] == (0x28 | 1ULL << 63));
	assert_int_equal(inside.caller[1], 0x900);

	model_return(&model, &thread, 0x1e00);
	ending = sample(0x1e08);
	assert_int_equal(ending.entries, 1);
	assert_int_equal(ending.callers, 3);

	model_signal_end(&model, &thread);
	after = sample(0x1ef0);
	assert_int_equal(after.entries, 1);
	assert_int_equal(after.callers, 2);
	(void)state;
}

static void a_signal_on_its_own_stack_keeps_what_it_interrupted(void **state)
{
	struct sampled inside, after;

	call_many(2, 0x1f00);
	model_signal(&model, &thread, (struct call){0x28, 0x900}, 0x1ef0, 0x3f00);
	call(0x910, 0xa00, 0x3ef0);
	inside = sample(0x3ef0);
	assert_int_equal(inside.callers, 4);

	after = sample(0x1ef0); /* as after siglongjmp() */
	assert_int_equal(after.callers, 2);
	assert_int_equal(thread.parked_count, 0);
	(void)state;
}

static void a_stack_that_was_left_is_found_again(void **state)
{
	struct sampled sampled;

	call_many(3, 0x1f00);		       /* … of which the third switches */
	model_return(&model, &thread, 0x3f00); /* onto a new stack */
	call(0x500, 0x600, 0x3f00);
	sampled = sample(0x3f00);
	assert_int_equal(sampled.callers, 1);

	model_return(&model, &thread, 0x1f00 - 3 * 8); /* and back */
	sampled = sample(0x1f00 - 2 * 8);
	assert_int_equal(sampled.callers, 2);
	assert_int_equal(sampled.caller[0], 0x20);

	model_return(&model, &thread, 0x3f00);
	sampled = sample(0x3f08);
	assert_int_equal(sampled.callers, 0);
	(void)state;
}

static void a_return_address_that_is_gone_is_counted(void **state)
{
	call(0x100, 0x200, 0x1f00);
	memory[0x1f00 - STACK] = 0;
	sample(0x1f00);

	assert_int_equal(model.misfits, 1);
	(void)state;
}

static void string_instructions_with_a_prefix_are_repeated(void **state)
{
	assert_true(model_is_repeated((const u8[]){0xf3, 0xa4}));	/* rep movsb */
	assert_true(model_is_repeated((const u8[]){0xf3, 0x48, 0xab})); /* rep stosq */
	assert_true(model_is_repeated((const u8[]){0xf2, 0xae}));	/* repne scasb */
	assert_false(model_is_repeated((const u8[]){0xa4}));
	assert_false(model_is_repeated((const u8[]){0xf3, 0xc3}));	       /* rep ret */
	assert_false(model_is_repeated((const u8[]){0xf3, 0x0f, 0x1e, 0xfa})); /* endbr64 */
	(void)state;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(calls_are_kept_newest_first),
		TEST(each_size_overwrites_its_oldest),
		TEST(what_was_overwritten_does_not_come_back),
		TEST(a_return_from_an_empty_ring_moves_the_top_down),
		TEST(a_call_to_the_next_instruction_is_no_call),
		TEST(jumping_out_leaves_the_registers_and_ends_the_frames),
		TEST(a_signal_pushes_nothing_and_its_return_pops),
		TEST(a_signal_on_its_own_stack_keeps_what_it_interrupted),
		TEST(a_stack_that_was_left_is_found_again),
		TEST(a_return_address_that_is_gone_is_counted),
		TEST(string_instructions_with_a_prefix_are_repeated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
