/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * 43 nested functions, which are really called here, and registers for 32 or 16 of the calls.
 */
#include "base/file.h"
#include "base/memory.h"
#include "host/host.h"
#include "lbr/lbr.h"
#include "unit/lbr/own_code.h"
#include "unit/unit.h"

#include <string.h>

enum { LEVELS = 43, PID = 7 };

/* Where each call returns to, by level, and where the innermost function was. */
static u64 returns[LEVELS], leaf;

#define LEVEL(level, next)                                             \
	static __attribute__((noinline)) void level_##level(void)      \
	{                                                              \
		returns[level - 1] = (u64)__builtin_return_address(0); \
		next();                                                \
		__asm__ volatile("" ::: "memory");                     \
	}

static inline __attribute__((always_inline)) void innermost(void)
{
	__asm__ volatile("lea (%%rip), %0" : "=r"(leaf));
}

LEVEL(43, innermost)
LEVEL(42, level_43)
LEVEL(41, level_42)
LEVEL(40, level_41)
LEVEL(39, level_40)
LEVEL(38, level_39)
LEVEL(37, level_38)
LEVEL(36, level_37)
LEVEL(35, level_36)
LEVEL(34, level_35)
LEVEL(33, level_34)
LEVEL(32, level_33)
LEVEL(31, level_32)
LEVEL(30, level_31)
LEVEL(29, level_30)
LEVEL(28, level_29)
LEVEL(27, level_28)
LEVEL(26, level_27)
LEVEL(25, level_26)
LEVEL(24, level_25)
LEVEL(23, level_24)
LEVEL(22, level_23)
LEVEL(21, level_22)
LEVEL(20, level_21)
LEVEL(19, level_20)
LEVEL(18, level_19)
LEVEL(17, level_18)
LEVEL(16, level_17)
LEVEL(15, level_16)
LEVEL(14, level_15)
LEVEL(13, level_14)
LEVEL(12, level_13)
LEVEL(11, level_12)
LEVEL(10, level_11)
LEVEL(9, level_10)
LEVEL(8, level_9)
LEVEL(7, level_8)
LEVEL(6, level_7)
LEVEL(5, level_6)
LEVEL(4, level_5)
LEVEL(3, level_4)
LEVEL(2, level_3)
LEVEL(1, level_2)

/* The sample that came out last. */
struct result {
	struct event_sink sink;
	struct sample sample;
	struct frame frames[512];
};

static int keep_sample(struct event_sink *sink, const struct sample *sample)
{
	struct result *result = (struct result *)sink;

	assert_true(sample->frame_count <= ARRAY_COUNT(result->frames));
	result->sample = *sample;
	memcpy(result->frames, sample->frames, sample->frame_count * sizeof(*sample->frames));
	return 0;
}

/* A direct CALL is five bytes, and the last four say how far. */
static struct branch entry_of(u64 back)
{
	s32 distance;

	memcpy(&distance, (const void *)(uintptr_t)(back - sizeof(distance)), sizeof(distance));
	return (struct branch){.from = back - 5, .to = back + (u64)(s64)distance};
}

/* The newest `count` of all calls, newest first. */
static void fill(struct branch *entries, u32 count)
{
	for (u32 i = 0; i < count; i++)
		entries[i] = entry_of(returns[LEVELS - 1 - i]);
}

static const struct event_source source = {
	.name = "cycles", .has_chain = true, .has_branches = true, .branch_bits = 1 << 11};

/* Stitches one sample with these entries and, behind the leaf, these frames. */
static void stitch(struct result *result, struct sample *sample, u32 depth)
{
	struct lbr_settings settings = {.tier = LBR_CERTAIN, .depth = depth};
	CLEANUP(lbr_stitcher_freep)
	struct lbr_stitcher *stitcher = lbr_stitcher_new(&settings, &result->sink);
	struct event_sink *sink = lbr_stitcher_sink(stitcher);

	result->sink.on_sample = keep_sample;
	lbr_stitcher_set_sources(stitcher, &source, 1);
	map_own_code(sink, PID);
	sample->pid = sample->tid = PID;
	sample->has_chain = true;
	sample->hw_idx = LEVELS % depth;
	assert_int_equal(sink->on_sample(sink, sample), 0);
}

/* How many of the callers are the true ones, from the leaf on; all must be. */
static u32 true_callers(const struct result *result)
{
	u32 count = result->sample.frame_count - 1U;

	assert_true(result->frames[0].address == leaf);
	for (u32 i = 0; i < count && i < LEVELS; i++)
		assert_true(result->frames[i + 1].address == returns[LEVELS - 1 - i]);
	return count;
}

static void all_43_are_seen_with(u32 depth)
{
	struct branch entries[LEVELS];
	struct frame frames[] = {{.address = leaf, .space = SPACE_USER}};
	struct sample sample = {.frames = frames, .frame_count = 1, .branches = entries};
	struct result result = {0};

	fill(entries, depth);
	sample.branch_count = (u16)depth;
	stitch(&result, &sample, depth);
	assert_true(true_callers(&result) >= LEVELS);
	assert_int_equal(result.frames[depth].origin, ORIGIN_LBR);
	assert_int_equal(result.frames[LEVELS].origin, ORIGIN_STITCHED);
}

static void registers_32_show_43_calls(void **state)
{
	all_43_are_seen_with(32);
	(void)state;
}

static void registers_16_show_43_calls(void **state)
{
	all_43_are_seen_with(16);
	(void)state;
}

static void registers_8_show_43_calls(void **state)
{
	all_43_are_seen_with(8);
	(void)state;
}

static void an_entry_that_cannot_follow_ends_the_stack(void **state)
{
	struct branch entries[8];
	struct frame frames[] = {{.address = leaf, .space = SPACE_USER}};
	struct sample sample = {.frames = frames, .frame_count = 1, .branches = entries};
	struct result result = {0};

	fill(entries, 8);
	entries[4] = entries[6];
	sample.branch_count = 8;
	stitch(&result, &sample, 8);
	assert_int_equal(true_callers(&result), 4);
	assert_int_equal(result.sample.cut, CUT_BROKEN);
	(void)state;
}

static void a_from_that_is_no_call_ends_the_stack(void **state)
{
	struct branch entries[8];
	struct frame frames[] = {{.address = leaf, .space = SPACE_USER}};
	struct sample sample = {.frames = frames, .frame_count = 1, .branches = entries};
	struct result result = {0};

	fill(entries, 8);
	entries[3].from += 1;
	sample.branch_count = 8;
	stitch(&result, &sample, 8);
	assert_int_equal(true_callers(&result), 3);
	(void)state;
}

/* What is known of the code is known by where it is in its file. */
static void a_program_that_is_elsewhere_has_its_own_addresses(void **state)
{
	enum { REGISTERS = 16, OTHER = PID + 1, UP = 1 << 20 };
	const struct lbr_settings settings = {.tier = LBR_CERTAIN, .depth = REGISTERS};
	struct branch entries[REGISTERS];
	struct frame frame = {.address = leaf, .space = SPACE_USER};
	struct sample sample = {.pid = PID,
				.tid = PID,
				.has_chain = true,
				.frames = &frame,
				.frame_count = 1,
				.branches = entries,
				.branch_count = REGISTERS,
				.hw_idx = LEVELS % REGISTERS};
	struct result result = {.sink.on_sample = keep_sample};
	struct lbr_stitcher *stitcher = lbr_stitcher_new(&settings, &result.sink);
	struct event_sink *sink = lbr_stitcher_sink(stitcher);

	lbr_stitcher_set_sources(stitcher, &source, 1);
	map_own_code(sink, PID);
	map_own_code_at(sink, OTHER, UP);
	fill(entries, REGISTERS);
	assert_int_equal(sink_call(sink, on_sample, &sample), 0);
	assert_true(true_callers(&result) >= LEVELS);

	sample.pid = sample.tid = OTHER;
	frame.address += UP;
	for (u32 i = 0; i < REGISTERS; i++) {
		entries[i].from += UP;
		entries[i].to += UP;
	}
	assert_int_equal(sink_call(sink, on_sample, &sample), 0);
	for (u32 i = 0; i < result.sample.frame_count; i++)
		result.frames[i].address -= UP;
	assert_true(true_callers(&result) >= LEVELS);
	lbr_stitcher_free(stitcher);
	(void)state;
}

/* What longjmp() leaves behind: calls that nobody returned from. */
static void frame_pointers_pass_over_calls_that_are_over(void **state)
{
	struct branch entries[10];
	struct frame frames[9] = {{.address = leaf, .space = SPACE_USER}};
	struct sample sample = {.frames = frames, .frame_count = 9, .branches = entries};
	struct result result = {0};

	fill(entries, 10);
	memmove(entries + 5, entries + 2, 5 * sizeof(*entries));
	entries[2] = entries[3] = entries[4] = entries[9];
	for (u32 i = 0; i < 8; i++)
		frames[1 + i] = (struct frame){.address = returns[LEVELS - 1 - i],
					       .space = SPACE_USER};
	sample.branch_count = 10;
	stitch(&result, &sample, 16);
	assert_true(true_callers(&result) >= 8);
	(void)state;
}

static void an_unwound_stack_is_taken_as_it_is(void **state)
{
	struct branch entries[8];
	struct frame frames[3] = {{.address = leaf, .space = SPACE_USER},
				  {.address = returns[LEVELS - 1], .space = SPACE_USER},
				  {.address = returns[LEVELS - 2], .space = SPACE_USER}};
	struct sample sample = {.frames = frames,
				.frame_count = 3,
				.branches = entries,
				.walked = WALK_EH_FRAME,
				.cut = CUT_COMPLETE};
	struct result result = {0};

	fill(entries, 8);
	sample.branch_count = 8;
	stitch(&result, &sample, 8);
	assert_int_equal(true_callers(&result), 2);
	assert_int_equal(result.sample.cut, CUT_COMPLETE);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_32_show_43_calls),
		cmocka_unit_test(registers_16_show_43_calls),
		cmocka_unit_test(registers_8_show_43_calls),
		cmocka_unit_test(an_entry_that_cannot_follow_ends_the_stack),
		cmocka_unit_test(a_from_that_is_no_call_ends_the_stack),
		cmocka_unit_test(a_program_that_is_elsewhere_has_its_own_addresses),
		cmocka_unit_test(frame_pointers_pass_over_calls_that_are_over),
		cmocka_unit_test(an_unwound_stack_is_taken_as_it_is),
	};

	level_1();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
