/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records of the BPF ring buffer as samples; what is no record is refused.
 */
#include "capture/ring.h"
#include "unit/unit.h"

#include <errno.h>
#include <string.h>

enum { KERNEL_FRAMES = 2, USER_FRAMES = 3 };

static struct sample_space space;
static struct sample sample;

static struct sample_record a_record(void)
{
	struct sample_record record = {
		.header = {.kind = RECORD_SAMPLE,
			   .source = 1,
			   .cpu = 3,
			   .time_ns = 1000,
			   .address = 0xffffffff81000010,
			   .period = 10101010,
			   .pid = 10,
			   .tid = 11,
			   .cgroup = 4242,
			   .kernel_frames = KERNEL_FRAMES,
			   .user_frames = USER_FRAMES,
			   .mode = MODE_KERNEL,
			   .end = END_BROKEN},
		.frames = {0xffffffff81000010, 0xffffffff81000020, 0x401000, 0x402000, 0x403000},
	};

	return record;
}

static size_t bytes_of(const struct sample_record *record)
{
	return sizeof(record->header) + (record->header.kernel_frames + record->header.user_frames +
					 record->header.branch_words) *
						sizeof(u64);
}

static void record_becomes_a_sample(void **state)
{
	struct sample_record record = a_record();

	assert_int_equal(ring_decode(&record, bytes_of(&record), true, &space, &sample), 0);
	assert_int_equal(sample.source, 1);
	assert_int_equal(sample.cpu, 3);
	assert_int_equal(sample.time_ns, 1000);
	assert_int_equal(sample.weight, 10101010);
	assert_int_equal(sample.pid, 10);
	assert_int_equal(sample.tid, 11);
	assert_int_equal(sample.cgroup, 4242);
	assert_int_equal(sample.space, SPACE_KERNEL);
	assert_int_equal(sample.cut, CUT_BROKEN);
	assert_true(sample.has_chain);
	(void)state;
}

static void frames_are_of_the_kernel_first_then_of_the_user(void **state)
{
	struct sample_record record = a_record();

	assert_int_equal(ring_decode(&record, bytes_of(&record), true, &space, &sample), 0);
	assert_int_equal(sample.frame_count, KERNEL_FRAMES + USER_FRAMES);
	for (u32 i = 0; i < sample.frame_count; i++) {
		assert_int_equal(sample.frames[i].address, record.frames[i]);
		assert_int_equal(sample.frames[i].space,
				 i < KERNEL_FRAMES ? SPACE_KERNEL : SPACE_USER);
	}
	(void)state;
}

static void a_stack_says_who_walked_it(void **state)
{
	struct sample_record record = a_record();

	record.header.walked = WALKER_EH_FRAME | WALKER_FRAME_POINTER;
	assert_int_equal(ring_decode(&record, bytes_of(&record), true, &space, &sample), 0);
	assert_int_equal(sample.walked, WALK_EH_FRAME | WALK_FRAME_POINTER);
	(void)state;
}

/* Gives the record a branch stack; every word of it is its own number. */
static void add_branches(struct sample_record *record, u32 entries)
{
	record->header.branch_words = (u8)branch_stack_words(entries);
	for (u32 i = 0; i < record->header.branch_words; i++)
		record->frames[KERNEL_FRAMES + USER_FRAMES + i] = 100 + i;
}

static void branches_come_with_the_index_of_the_newest(void **state)
{
	struct sample_record record = a_record();

	for (u32 entries = 0; entries <= BRANCH_STACK_MAX; entries++) {
		add_branches(&record, entries);
		assert_int_equal(ring_decode(&record, bytes_of(&record), true, &space, &sample), 0);
		assert_int_equal(sample.branch_count, entries);
		assert_int_equal(sample.hw_idx, 100);
		for (u32 i = 0; i < entries; i++) {
			assert_int_equal(sample.branches[i].from, 101 + 3 * i);
			assert_int_equal(sample.branches[i].to, 102 + 3 * i);
			assert_int_equal(sample.branches[i].flags, 103 + 3 * i);
		}
	}
	(void)state;
}

static void without_branches_the_index_is_unknown(void **state)
{
	struct sample_record record = a_record();

	assert_int_equal(ring_decode(&record, bytes_of(&record), true, &space, &sample), 0);
	assert_int_equal(sample.branch_count, 0);
	assert_int_equal(sample.hw_idx, BRANCH_INDEX_UNKNOWN);
	(void)state;
}

static void branches_that_are_cut_are_refused(void **state)
{
	struct sample_record record = a_record();

	add_branches(&record, 2);
	for (u32 words = 2; words < 7; words++) { /* an entry and its index are four */
		record.header.branch_words = (u8)words;
		assert_int_equal(ring_decode(&record, sizeof(record), true, &space, &sample),
				 words == 4 ? 0 : -EBADMSG);
	}
	record.header.branch_words = BRANCH_WORDS_MAX + BRANCH_ENTRY_WORDS;
	assert_int_equal(ring_decode(&record, sizeof(record), true, &space, &sample), -EBADMSG);
	add_branches(&record, 2);
	for (size_t bytes = 0; bytes < bytes_of(&record); bytes++)
		assert_int_equal(ring_decode(&record, bytes, true, &space, &sample), -EBADMSG);
	(void)state;
}

static void record_shorter_than_it_says_is_refused(void **state)
{
	struct sample_record record = a_record();

	for (size_t bytes = 0; bytes < bytes_of(&record); bytes++)
		assert_int_equal(ring_decode(&record, bytes, true, &space, &sample), -EBADMSG);
	(void)state;
}

static void more_frames_than_can_be_are_refused(void **state)
{
	struct sample_record record = a_record();

	record.header.user_frames = STACK_MAX_FRAMES + 1;
	assert_int_equal(ring_decode(&record, sizeof(record), true, &space, &sample), -EBADMSG);
	(void)state;
}

static void unknown_kinds_and_sources_are_refused(void **state)
{
	struct sample_record record = a_record();

	record.header.kind = RECORD_SAMPLE + 1;
	assert_int_equal(ring_decode(&record, bytes_of(&record), true, &space, &sample), -EBADMSG);
	record = a_record();
	record.header.source = SOURCES_MAX;
	assert_int_equal(ring_decode(&record, bytes_of(&record), true, &space, &sample), -EBADMSG);
	(void)state;
}

static void proof_shorter_than_it_says_is_refused(void **state)
{
	static struct proof_record proof = {.kind = RECORD_PROOF, .stack_bytes = 100};
	size_t bytes = offsetof(struct proof_record, stack) + proof.stack_bytes;

	assert_true(ring_is_proof(&proof, bytes));
	assert_false(ring_is_proof(&proof, bytes - 1));
	assert_false(ring_is_proof(&proof, 4));
	proof.kind = RECORD_SAMPLE;
	assert_false(ring_is_proof(&proof, bytes));
	(void)state;
}

static void rest_of_a_stack_shorter_than_it_says_is_refused(void **state)
{
	static struct stack_rest rest = {.kind = RECORD_STACK_REST, .stack_bytes = 100};
	size_t bytes = offsetof(struct stack_rest, stack) + rest.stack_bytes;

	assert_true(ring_is_rest(&rest, bytes));
	assert_false(ring_is_rest(&rest, bytes - 1));
	assert_false(ring_is_rest(&rest, 4));
	rest.kind = RECORD_SAMPLE;
	assert_false(ring_is_rest(&rest, bytes));
	(void)state;
}

/* The BPF side cannot include event_sink.h, so the two lists must be kept alike by hand. */
static void ends_of_stacks_are_those_of_events(void **state)
{
	assert_int_equal(END_UNKNOWN, CUT_UNKNOWN);
	assert_int_equal(END_COMPLETE, CUT_COMPLETE);
	assert_int_equal(END_NO_STACK, CUT_NONE);
	assert_int_equal(END_TOO_DEEP, CUT_TOO_DEEP);
	assert_int_equal(END_UNREADABLE, CUT_UNREADABLE);
	assert_int_equal(END_NO_TABLE, CUT_NO_TABLE);
	assert_int_equal(END_UNSUPPORTED, CUT_UNSUPPORTED);
	assert_int_equal(END_NOT_ANALYSED, CUT_NOT_ANALYSED);
	assert_int_equal(END_BROKEN, CUT_BROKEN);
	assert_int_equal(WALKER_FRAME_POINTER, WALK_FRAME_POINTER);
	assert_int_equal(WALKER_EH_FRAME, WALK_EH_FRAME);
	assert_int_equal(WALKER_KERNEL, WALK_KERNEL);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(record_becomes_a_sample),
		cmocka_unit_test(frames_are_of_the_kernel_first_then_of_the_user),
		cmocka_unit_test(a_stack_says_who_walked_it),
		cmocka_unit_test(branches_come_with_the_index_of_the_newest),
		cmocka_unit_test(without_branches_the_index_is_unknown),
		cmocka_unit_test(branches_that_are_cut_are_refused),
		cmocka_unit_test(record_shorter_than_it_says_is_refused),
		cmocka_unit_test(more_frames_than_can_be_are_refused),
		cmocka_unit_test(unknown_kinds_and_sources_are_refused),
		cmocka_unit_test(proof_shorter_than_it_says_is_refused),
		cmocka_unit_test(rest_of_a_stack_shorter_than_it_says_is_refused),
		cmocka_unit_test(ends_of_stacks_are_those_of_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
