/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What becomes of samples on their way through the stitcher, where no binary can be read.
 */
#include "base/memory.h"
#include "lbr/lbr.h"
#include "unit/unit.h"

#include <string.h>

enum { FRAMES_MAX = 512, PID = 7 };

/* The sample that came out last. */
struct result {
	struct event_sink sink;
	struct lbr_stitcher *stitcher;
	struct sample sample;
	struct frame frames[FRAMES_MAX];
	u32 samples;
	u64 asked_key; /* of knows_chain() */
};

static bool know_last_chain(struct event_sink *sink, const struct sample *sample)
{
	struct result *result = (struct result *)sink;

	result->asked_key = sample->chain_key;
	return result->samples && result->sample.chain_key == sample->chain_key;
}

static int keep_sample(struct event_sink *sink, const struct sample *sample)
{
	struct result *result = (struct result *)sink;

	assert_true(sample->frame_count <= FRAMES_MAX);
	result->sample = *sample;
	memcpy(result->frames, sample->frames, sample->frame_count * sizeof(*sample->frames));
	result->samples++;
	return 0;
}

static const struct event_source sources[] = {
	{.name = "cycles", .has_chain = true, .has_branches = true, .branch_bits = 1 << 11},
	{.name = "branches", .has_chain = true, .has_branches = true, .branch_bits = 1 << 3},
};

static struct result *begin(u8 tier)
{
	static struct result result;
	struct lbr_settings settings = {.tier = tier, .depth = 32};

	result = (struct result){
		.sink = {.on_sample = keep_sample, .knows_chain = know_last_chain}};
	result.stitcher = lbr_stitcher_new(&settings, &result.sink);
	lbr_stitcher_set_sources(result.stitcher, sources, ARRAY_COUNT(sources));
	return &result;
}

static void end(struct result *result)
{
	lbr_stitcher_free(result->stitcher);
}

static void feed(const struct result *result, const struct sample *sample)
{
	struct event_sink *sink = lbr_stitcher_sink(result->stitcher);

	assert_int_equal(sink->on_sample(sink, sample), 0);
}

static const struct frame chain[] = {
	{.address = 0xffffffff81000000, .space = SPACE_KERNEL},
	{.address = 0x1010, .space = SPACE_USER},
};
static const struct branch entries[] = {{0x2010, 0x1000}, {0x3010, 0x2000}};

static struct sample sample_of(u32 source)
{
	return (struct sample){
		.pid = PID,
		.tid = PID,
		.address = chain[0].address,
		.space = SPACE_KERNEL,
		.source = source,
		.has_chain = true,
		.frames = chain,
		.frame_count = ARRAY_COUNT(chain),
		.branches = entries,
		.branch_count = ARRAY_COUNT(entries),
		.hw_idx = 1,
	};
}

static void plain_is_what_perf_shows(void **state)
{
	struct result *result = begin(LBR_PLAIN);
	struct sample sample = sample_of(0);

	feed(result, &sample);
	assert_int_equal(result->sample.frame_count, 4);
	assert_true(result->frames[0].address == chain[0].address);
	assert_true(result->frames[1].address == 0x1000);
	assert_true(result->frames[2].address == 0x2010);
	assert_true(result->frames[3].address == 0x3010);
	assert_int_equal(result->sample.branch_count, 2); /* for those who print them */
	end(result);
	(void)state;
}

static void the_leaf_is_where_the_thread_was(void **state)
{
	struct result *result = begin(LBR_CERTAIN);
	struct sample sample = sample_of(0);

	feed(result, &sample);
	assert_int_equal(result->sample.frame_count, 4);
	assert_true(result->frames[0].address == chain[0].address);
	assert_true(result->frames[1].address == 0x1010);
	assert_int_equal(result->frames[2].origin, ORIGIN_LBR);
	/* Whose bytes are not known: some address of the CALL, behind its first byte. */
	assert_true(result->frames[2].address == 0x2011);
	assert_true(result->frames[3].address == 0x3011);
	assert_true(result->sample.walked & WALK_LBR);
	assert_int_equal(result->sample.cut, CUT_OVERWRITTEN);
	end(result);
	(void)state;
}

static void other_branch_stacks_pass_unchanged(void **state)
{
	struct result *result = begin(LBR_CERTAIN);
	struct sample sample = sample_of(1);

	feed(result, &sample);
	assert_int_equal(result->sample.frame_count, 2);
	assert_int_equal(result->sample.branch_count, 2);
	assert_int_equal(lbr_stitcher_tally(result->stitcher)->stacks, 0);
	end(result);
	(void)state;
}

static void an_entry_that_is_no_user_call_ends_the_stack(void **state)
{
	static const struct branch odd[] = {
		{0x2010, 0x1000}, {0, 0x2000}, {0x4010, 0x3000}, {0xffffffff81000000, 0x4000}};
	struct result *result = begin(LBR_CERTAIN);
	struct sample sample = sample_of(0);

	sample.branches = odd;
	sample.branch_count = ARRAY_COUNT(odd);
	feed(result, &sample);
	assert_int_equal(result->sample.frame_count, 3);
	assert_int_equal(lbr_stitcher_tally(result->stitcher)->ends[LBR_END_CONTRADICTED], 1);
	end(result);
	(void)state;
}

static void no_entries_leave_the_leaf(void **state)
{
	struct result *result = begin(LBR_CERTAIN);
	struct sample sample = sample_of(0);

	sample.branch_count = 0;
	sample.branches = NULL;
	feed(result, &sample);
	assert_int_equal(result->sample.frame_count, 2);
	assert_true(result->frames[1].address == 0x1010);
	assert_int_equal(lbr_stitcher_tally(result->stitcher)->ends[LBR_END_EMPTY], 1);
	end(result);
	(void)state;
}

static void an_unwound_stack_is_whole_by_hardware_if_the_registers_hold_it(void **state)
{
	static const struct frame unwound[] = {
		{.address = 0x1010, .space = SPACE_USER},
		{.address = 0x2015, .space = SPACE_USER},
		{.address = 0x3015, .space = SPACE_USER},
	};
	struct result *result = begin(LBR_CERTAIN);
	const struct lbr_tally *tally = lbr_stitcher_tally(result->stitcher);
	struct sample sample = sample_of(0);

	sample.frames = unwound;
	sample.frame_count = ARRAY_COUNT(unwound);
	sample.walked = WALK_EH_FRAME;
	sample.cut = CUT_COMPLETE;
	feed(result, &sample);
	assert_int_equal(tally->whole_by_hardware, 1);
	sample.branch_count = 1;
	feed(result, &sample);
	assert_int_equal(tally->whole_by_hardware, 1);
	assert_int_equal(tally->cut_by_hardware, 1);
	assert_int_equal(tally->became_whole, 1);
	end(result);
	(void)state;
}

static void a_sample_without_user_frames_passes(void **state)
{
	struct result *result = begin(LBR_CERTAIN);
	struct sample sample = sample_of(0);

	sample.frame_count = 1;
	feed(result, &sample);
	assert_int_equal(result->sample.frame_count, 1);
	sample.frame_count = 0;
	feed(result, &sample);
	assert_int_equal(result->samples, 2);
	end(result);
	(void)state;
}

/* Asks as a reader does before it decodes a chain. */
static bool asks(const struct result *result, const struct sample *sample)
{
	struct event_sink *sink = lbr_stitcher_sink(result->stitcher);

	return sink->knows_chain(sink, sample);
}

static void a_stack_that_was_found_before_is_not_decoded_again(void **state)
{
	static const u8 tiers[] = {LBR_PLAIN, LBR_CERTAIN};

	for (size_t i = 0; i < ARRAY_COUNT(tiers); i++) {
		struct result *result = begin(tiers[i]);
		struct sample sample = sample_of(0);
		const struct lbr_tally *tally = lbr_stitcher_tally(result->stitcher);
		u8 cut;

		sample.chain_key = 1234;
		assert_false(asks(result, &sample));
		feed(result, &sample);
		feed(result, &sample); /* the first one told how many registers there are */
		cut = result->sample.cut;
		assert_true(result->sample.chain_key & 1); /* it has frames of user space */
		sample.frames = NULL;
		sample.branches = NULL;
		sample.frame_count = sample.branch_count = 0;
		assert_true(asks(result, &sample));
		assert_true(result->asked_key == result->sample.chain_key);
		sample.is_known = true;
		feed(result, &sample);
		assert_true(result->sample.is_known);
		assert_int_equal(result->sample.frame_count, 0);
		assert_int_equal(result->sample.cut, cut);
		assert_int_equal(tally->stacks, 3);
		assert_int_equal(tally->ends[LBR_END_OVERWRITTEN], tiers[i] == LBR_PLAIN ? 0 : 3);
		end(result);
	}
	(void)state;
}

static void what_a_stack_depends_on_is_part_of_its_key(void **state)
{
	struct result *result = begin(LBR_CERTAIN);
	struct sample sample = sample_of(0), unwound = sample;
	struct mapping mapping = {.pid = PID,
				  .tid = PID,
				  .space = SPACE_USER,
				  .start = 0x1000,
				  .bytes = 0x8000,
				  .path = "/nowhere"};

	sample.chain_key = unwound.chain_key = 1234;
	unwound.walked = WALK_EH_FRAME;
	unwound.cut = CUT_COMPLETE;
	feed(result, &sample);
	feed(result, &sample);
	assert_false(asks(result, &unwound));
	assert_true(asks(result, &sample));
	sink_call(lbr_stitcher_sink(result->stitcher), on_mapping, &mapping);
	assert_false(asks(result, &sample));
	end(result);
	(void)state;
}

static void a_program_that_is_started_again_is_known(void **state)
{
	static const struct thread_name exec = {
		.pid = PID, .tid = PID, .name = "again", .is_exec = true};
	static const struct mapping mapping = {.pid = PID,
					       .tid = PID,
					       .space = SPACE_USER,
					       .start = 0x1000,
					       .bytes = 0x8000,
					       .path = "/nowhere"};
	struct result *result = begin(LBR_CERTAIN);
	struct event_sink *learning = lbr_stitcher_learning_sink(result->stitcher);
	struct event_sink *sink = lbr_stitcher_sink(result->stitcher);
	struct sample sample = sample_of(0);

	sample.chain_key = 1234;
	assert_int_equal(learning->on_sample(learning, &sample), 0);
	sink_call(sink, on_mapping, &mapping);
	feed(result, &sample);
	assert_true(asks(result, &sample));
	sink_call(sink, on_name, &exec);
	sink_call(sink, on_mapping, &mapping);
	assert_true(asks(result, &sample));
	end(result);
	(void)state;
}

static void likely_stacks_are_looked_for_each_time(void **state)
{
	struct result *result = begin(LBR_LIKELY);
	struct sample sample = sample_of(0);

	sample.chain_key = 1234;
	feed(result, &sample);
	assert_false(asks(result, &sample));
	end(result);
	(void)state;
}

/* A stitcher beside the one that has learned, which has heard of the process. */
static struct lbr_stitcher *beside(struct result *result)
{
	struct lbr_stitcher *stitcher = lbr_stitcher_beside(result->stitcher, &result->sink);
	struct event_sink *follower = lbr_stitcher_follower(stitcher);
	const struct thread_life life = {.pid = PID, .tid = PID, .parent_pid = 1, .parent_tid = 1};

	assert_int_equal(follower->on_fork(follower, &life), 0);
	assert_null(follower->on_sample);
	return stitcher;
}

static void parts_are_stitched_as_the_whole(void **state)
{
	struct result *result = begin(LBR_CERTAIN);
	struct event_sink *learning = lbr_stitcher_learning_sink(result->stitcher);
	struct sample sample = sample_of(0);
	struct lbr_stitcher *parts[2];
	struct lbr_tally sum = {0};
	struct frame whole[FRAMES_MAX];
	u16 count;

	assert_int_equal(learning->on_sample(learning, &sample), 0);
	for (u32 i = 0; i < 2; i++)
		parts[i] = beside(result);
	for (u32 i = 0; i < 2; i++) {
		struct event_sink *sink = lbr_stitcher_sink(parts[i]);

		result->sample.frame_count = 0;
		assert_int_equal(sink->on_sample(sink, &sample), 0);
		count = result->sample.frame_count;
		memcpy(whole, result->frames, sizeof(whole));
		lbr_tally_sum(&sum, lbr_stitcher_tally(parts[i]));
		lbr_stitcher_free(parts[i]);
	}
	feed(result, &sample);
	assert_int_equal(result->samples, 3);
	assert_int_equal(result->sample.frame_count, count);
	assert_memory_equal(result->frames, whole, count * sizeof(*whole));
	assert_int_equal(sum.stacks, 2);
	assert_int_equal(sum.cut_by_hardware, 2);
	end(result);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_is_what_perf_shows),
		cmocka_unit_test(the_leaf_is_where_the_thread_was),
		cmocka_unit_test(other_branch_stacks_pass_unchanged),
		cmocka_unit_test(an_entry_that_is_no_user_call_ends_the_stack),
		cmocka_unit_test(no_entries_leave_the_leaf),
		cmocka_unit_test(an_unwound_stack_is_whole_by_hardware_if_the_registers_hold_it),
		cmocka_unit_test(a_sample_without_user_frames_passes),
		cmocka_unit_test(a_stack_that_was_found_before_is_not_decoded_again),
		cmocka_unit_test(what_a_stack_depends_on_is_part_of_its_key),
		cmocka_unit_test(a_program_that_is_started_again_is_known),
		cmocka_unit_test(likely_stacks_are_looked_for_each_time),
		cmocka_unit_test(parts_are_stitched_as_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
