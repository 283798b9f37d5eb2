/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording that is learned from by parts: stacks of this program, which are really there.
 */
#include "base/file.h"
#include "base/memory.h"
#include "host/host.h"
#include "lbr/lbr.h"
#include "unit/lbr/own_code.h"
#include "unit/unit.h"

#include <errno.h>
#include <execinfo.h>
#include <string.h>

enum { CALLS_MAX = 32, PID = 7, DEPTH = 16, INDIRECT_MAX = 7, LOOK_BYTES = 4096 };

/* Where a thread was, and what returns there, newest first. */
struct seen_stack {
	u64 leaf;
	u64 returns[CALLS_MAX];
	u32 count;
};

static struct seen_stack by_first, by_second;

static __attribute__((noinline)) void look(struct seen_stack *stack)
{
	void *frames[CALLS_MAX];
	u32 count = (u32)backtrace(frames, CALLS_MAX), first = 0;

	/* A sanitizer has a backtrace() of its own, which sees itself first. */
	while (first + 1 < count &&
	       (u64)(uintptr_t)frames[first] - (u64)(uintptr_t)look >= LOOK_BYTES)
		first++;
	stack->leaf = (u64)(uintptr_t)frames[first];
	stack->count = count - first - 1;
	for (u32 i = 0; i < stack->count; i++)
		stack->returns[i] = (u64)(uintptr_t)frames[first + 1 + i];
}

static __attribute__((noinline)) void first(void)
{
	look(&by_first);
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void second(void)
{
	look(&by_second);
	__asm__ volatile("" ::: "memory");
}

/* The call that returns to `back`; it led into the function that `inside` is in. */
static struct branch entry_of(u64 back, u64 inside)
{
	const u8 *bytes = (const u8 *)(uintptr_t)back;
	s32 distance;

	memcpy(&distance, bytes - sizeof(distance), sizeof(distance));
	if (bytes[-5] == 0xe8 && inside - (back + (u64)(s64)distance) < 1 << 16)
		return (struct branch){.from = back - 5, .to = back + (u64)(s64)distance};
	for (u32 length = 2; length <= INDIRECT_MAX; length++) {
		const u8 *call = bytes - length;

		if (call[0] == 0xff && (call[1] >> 3 & 7) == 2)
			return (struct branch){.from = back - length, .to = inside};
	}
	fail_test("no call in front of %llx", (unsigned long long)back);
	return (struct branch){0};
}

/* A sample of a stack of which the registers still hold so many calls. */
struct cut_sample {
	struct sample sample;
	struct frame leaf;
	struct branch entries[CALLS_MAX];
};

static void cut_at(const struct seen_stack *stack, u32 count, struct cut_sample *ret_sample)
{
	u64 inside = stack->leaf;

	for (u32 i = 0; i < count; i++) {
		ret_sample->entries[i] = entry_of(stack->returns[i], inside);
		inside = stack->returns[i];
	}
	ret_sample->leaf = (struct frame){.address = stack->leaf, .space = SPACE_USER};
	ret_sample->sample = (struct sample){
		.pid = PID,
		.tid = PID,
		.has_chain = true,
		.frames = &ret_sample->leaf,
		.frame_count = 1,
		.branches = ret_sample->entries,
		.branch_count = (u16)count,
		.hw_idx = stack->count % DEPTH,
	};
}

static void learn(struct lbr_stitcher *stitcher, const struct seen_stack *stack, u32 count)
{
	struct cut_sample cut;

	cut_at(stack, count, &cut);
	sink_call(lbr_stitcher_learning_sink(stitcher), on_sample, &cut.sample);
}

static int take_nothing(struct event_sink *sink, const struct sample *sample)
{
	(void)sink;
	(void)sample;
	return 0;
}

static struct event_sink nobody = {.on_sample = take_nothing};

static const struct event_source source = {
	.name = "cycles", .has_chain = true, .has_branches = true, .branch_bits = 1 << 11};

static struct lbr_stitcher *unlearned_stitcher(void)
{
	static const struct lbr_settings settings = {.tier = LBR_CERTAIN, .depth = DEPTH};
	struct lbr_stitcher *stitcher = lbr_stitcher_new(&settings, &nobody);

	lbr_stitcher_set_sources(stitcher, &source, 1);
	return stitcher;
}

static struct lbr_stitcher *new_stitcher(void)
{
	struct lbr_stitcher *stitcher = unlearned_stitcher();

	map_own_code(lbr_stitcher_learning_sink(stitcher), PID);
	return stitcher;
}

/* The CALLs that a stitcher finds for a stack of which two calls are left. */
static u32 stitch(struct lbr_stitcher *stitcher, const struct seen_stack *stack, u64 *calls)
{
	struct event_sink *sink = lbr_stitcher_sink(stitcher);
	struct cut_sample cut;
	const u64 *found;
	size_t count;

	cut_at(stack, 2, &cut);
	map_own_code(sink, PID);
	assert_int_equal(sink->on_sample(sink, &cut.sample), 0);
	found = lbr_stitcher_calls(stitcher, &count);
	assert_true(count <= CALLS_MAX);
	memcpy(calls, found, count * sizeof(*calls));
	return (u32)count;
}

/* Learns of one part or of two; the stack that reaches the thread's start is in the second. */
static u32 stitch_after_parts(bool has_second, u64 *calls)
{
	CLEANUP(lbr_stitcher_freep) struct lbr_stitcher *stitcher = new_stitcher();
	CLEANUP(lbr_stitcher_freep) struct lbr_stitcher *part = lbr_stitcher_for_part(stitcher);

	map_own_code(lbr_stitcher_follower(part), PID);
	learn(stitcher, &by_second, 2);
	learn(part, &by_first, by_first.count);
	if (has_second)
		lbr_stitcher_learn_from(stitcher, part);
	return stitch(stitcher, &by_second, calls);
}

static void parts_teach_what_the_whole_does(void **state)
{
	CLEANUP(lbr_stitcher_freep) struct lbr_stitcher *stitcher = new_stitcher();
	u64 whole[CALLS_MAX], parts[CALLS_MAX];
	u32 count;

	learn(stitcher, &by_second, 2);
	learn(stitcher, &by_first, by_first.count);
	count = stitch(stitcher, &by_second, whole);
	assert_int_equal(count, by_second.count);
	assert_int_equal(stitch_after_parts(true, parts), count);
	assert_memory_equal(parts, whole, count * sizeof(*whole));
	(void)state;
}

static void a_part_that_was_not_learned_from_teaches_nothing(void **state)
{
	u64 calls[CALLS_MAX];

	assert_true(stitch_after_parts(false, calls) < by_second.count);
	(void)state;
}

static struct chain_ahead chain_of(u32 pid, u64 key)
{
	return (struct chain_ahead){.key = key, .pid = pid, .tid = pid};
}

/* It wants the same as one that has heard all. */
static void a_part_knows_which_chains_came_before(void **state)
{
	CLEANUP(lbr_stitcher_freep) struct lbr_stitcher *stitcher = new_stitcher();
	CLEANUP(lbr_stitcher_freep) struct lbr_stitcher *part = lbr_stitcher_for_part(stitcher);
	struct event_sink *follower = lbr_stitcher_follower(part);
	struct event_sink *whole = lbr_stitcher_learning_sink(stitcher);
	struct event_sink *rest = lbr_stitcher_learning_sink(part);
	enum { CHAINS = 100000, BEFORE = 60000, DIFFERENT = 977 };

	for (u32 i = 0; i < CHAINS; i++) {
		const struct chain_ahead chain = chain_of(PID, 2 * (i % DIFFERENT) + 3);
		size_t passed = whole->passes_chains(whole, &chain, 1);

		if (i < BEFORE)
			assert_int_equal(follower->passes_chains(follower, &chain, 1), 1);
		else
			assert_int_equal(rest->passes_chains(rest, &chain, 1), passed);
	}
	(void)state;
}

/* Of a recording that is known to be long no more are picked at its start than later on. */
static void as_many_are_picked_everywhere(void **state)
{
	CLEANUP(lbr_stitcher_freep) struct lbr_stitcher *stitcher = new_stitcher();
	struct event_sink *sink = lbr_stitcher_learning_sink(stitcher);
	enum { CHAINS = 1000000, DIFFERENT = 977, PIECES = 10, PIECE = CHAINS / PIECES };
	u32 picked[PIECES] = {0};

	lbr_stitcher_expect(stitcher, CHAINS);
	for (u32 i = 0; i < CHAINS; i++) {
		const struct chain_ahead chain = chain_of(PID, 2 * (i % DIFFERENT) + 3);

		picked[i / PIECE] += !sink->passes_chains(sink, &chain, 1);
	}
	picked[0] -= DIFFERENT; /* which were new */
	for (u32 i = 0; i < PIECES; i++) {
		assert_in_range(picked[i], 1000, 1700);
		assert_in_range(picked[i], picked[1] - 20, picked[1] + 20);
	}
	(void)state;
}

/* Whether a chain is passed over once it was heard. */
static bool passes(struct event_sink *sink, u32 pid, u64 key)
{
	const struct chain_ahead chain = chain_of(pid, key);

	return sink->passes_chains(sink, &chain, 1);
}

static void map_at(struct event_sink *sink, u32 pid, u64 start, const char *path)
{
	struct mapping mapping = {.pid = pid,
				  .space = SPACE_USER,
				  .start = start,
				  .bytes = 0x1000,
				  .inode = path[1] == '/' ? 0 : 1 + strlen(path),
				  .path = path};

	assert_int_equal(sink_call(sink, on_mapping, &mapping), 0);
}

/* The same addresses are other code: a plugin's that was opened where another one was. */
static void a_chain_is_heard_again_when_a_mapping_covers_another(void **state)
{
	enum { CHAINS = 1 << 20, KEY = 5, OTHER_KEY = 7 };
	CLEANUP(lbr_stitcher_freep) struct lbr_stitcher *stitcher = new_stitcher();
	CLEANUP(lbr_stitcher_freep) struct lbr_stitcher *part = NULL;
	struct event_sink *sink = lbr_stitcher_learning_sink(stitcher), *follower, *rest;

	lbr_stitcher_expect(stitcher, CHAINS);
	part = lbr_stitcher_for_part(stitcher);
	follower = lbr_stitcher_follower(part);
	rest = lbr_stitcher_learning_sink(part);
	map_at(sink, PID, 0x10000, "/first");
	map_at(follower, PID, 0x10000, "/first");
	assert_false(passes(sink, PID, OTHER_KEY)); /* picked */
	assert_true(passes(follower, PID, OTHER_KEY));
	assert_false(passes(sink, PID, KEY));
	assert_true(passes(follower, PID, KEY));
	assert_true(passes(sink, PID, KEY));
	map_at(sink, PID, 0x11000, "//anon");
	assert_true(passes(sink, PID, KEY));
	map_at(sink, PID, 0x10800, "/second");
	assert_false(passes(sink, PID, KEY));
	assert_true(passes(sink, PID, KEY));
	map_at(follower, PID, 0x10800, "/second");
	assert_false(passes(rest, PID, KEY));
	(void)state;
}

/* Who is picked and says nothing new but when he was seen need not be looked at. */
static void a_picked_sample_is_heard_once(void **state)
{
	enum { KEY = 5 };
	CLEANUP(lbr_stitcher_freep) struct lbr_stitcher *stitcher = new_stitcher();
	struct event_sink *sink = lbr_stitcher_learning_sink(stitcher);
	const struct chain_ahead nobodys = {.key = KEY};
	struct cut_sample cut;

	learn(stitcher, &by_first, by_first.count); /* there are so many registers */
	assert_false(passes(sink, PID, KEY));	    /* each is picked of a short recording */
	assert_false(passes(sink, PID, KEY));	    /* it has not come */
	cut_at(&by_first, by_first.count, &cut);
	cut.sample.chain_key = KEY;
	assert_int_equal(sink_call(sink, on_sample, &cut.sample), 0);
	assert_true(passes(sink, PID, KEY));
	assert_false(passes(sink, PID + 1, KEY));
	assert_false(sink->passes_chains(sink, &nobodys, 1));
	(void)state;
}

static void execute(struct event_sink *sink, u32 pid, const char *path)
{
	const struct thread_name name = {.pid = pid, .tid = pid, .name = "x", .is_exec = true};

	assert_int_equal(sink_call(sink, on_name, &name), 0);
	map_at(sink, pid, 0x10000, path);
}

/* Who executes the same file teaches the same; another one that lies at the same addresses does
 * not, as with programs that are not moved when they start. */
static void a_chain_is_heard_once_of_each_program(void **state)
{
	enum { CHAINS = 1 << 20, KEY = 5, OTHER_KEY = 7, CHILD = PID + 1, OTHER = PID + 2 };
	CLEANUP(lbr_stitcher_freep) struct lbr_stitcher *stitcher = new_stitcher();
	struct event_sink *sink = lbr_stitcher_learning_sink(stitcher);
	const struct thread_life fork = {
		.pid = CHILD, .tid = CHILD, .parent_pid = PID, .parent_tid = PID};

	lbr_stitcher_expect(stitcher, CHAINS);
	execute(sink, PID, "/first");
	assert_false(passes(sink, PID, OTHER_KEY)); /* picked */
	assert_false(passes(sink, PID, KEY));
	assert_int_equal(sink_call(sink, on_fork, &fork), 0);
	assert_true(passes(sink, CHILD, KEY));
	execute(sink, OTHER, "/first");
	assert_true(passes(sink, OTHER, KEY));
	execute(sink, CHILD, "/second");
	assert_false(passes(sink, CHILD, KEY));
	assert_true(passes(sink, CHILD, KEY));
	execute(sink, OTHER, "/first");
	map_at(sink, OTHER, 0x20000, "/library");
	assert_false(passes(sink, OTHER, KEY));
	assert_true(passes(sink, PID, KEY));
	/* opened later */
	map_at(sink, PID, 0x20000, "/other_library");
	assert_false(passes(sink, PID, KEY));
	execute(sink, CHILD, "/first");
	map_at(sink, CHILD, 0x20000, "/library");
	assert_true(passes(sink, CHILD, KEY));
	(void)state;
}

/* A stitcher beside one that has heard nothing, fed with stacks of so many calls: the first whole,
 * the others cut at two. Returns what its sink answered last. */
static int stitch_unlearned(struct lbr_stitcher *unlearned, u32 cut_count)
{
	CLEANUP(lbr_stitcher_freep)
	struct lbr_stitcher *stitcher = lbr_stitcher_beside(unlearned, &nobody);
	struct event_sink *sink = lbr_stitcher_sink(stitcher);
	struct cut_sample cut;
	int error;

	map_own_code(sink, PID);
	cut_at(&by_first, by_first.count, &cut);
	error = sink->on_sample(sink, &cut.sample);
	for (u32 i = 0; i < cut_count && !error; i++) {
		cut_at(&by_first, 2, &cut);
		error = sink->on_sample(sink, &cut.sample);
	}
	return error;
}

static void whole_stacks_need_no_lessons(void **state)
{
	CLEANUP(lbr_stitcher_freep) struct lbr_stitcher *unlearned = unlearned_stitcher();

	assert_int_equal(stitch_unlearned(unlearned, 0), 0);
	assert_false(lbr_stitcher_lacks_lessons(unlearned));
	(void)state;
}

static void a_cut_stack_asks_for_lessons(void **state)
{
	CLEANUP(lbr_stitcher_freep) struct lbr_stitcher *unlearned = unlearned_stitcher();

	assert_int_equal(stitch_unlearned(unlearned, 1), 0);
	assert_true(lbr_stitcher_lacks_lessons(unlearned));
	assert_int_equal(stitch_unlearned(unlearned, 0), -EAGAIN);
	map_own_code(lbr_stitcher_learning_sink(unlearned), PID);
	learn(unlearned, &by_first, by_first.count);
	assert_int_equal(stitch_unlearned(unlearned, 2), 0);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_teach_what_the_whole_does),
		cmocka_unit_test(a_part_that_was_not_learned_from_teaches_nothing),
		cmocka_unit_test(a_part_knows_which_chains_came_before),
		cmocka_unit_test(as_many_are_picked_everywhere),
		cmocka_unit_test(a_chain_is_heard_again_when_a_mapping_covers_another),
		cmocka_unit_test(a_picked_sample_is_heard_once),
		cmocka_unit_test(a_chain_is_heard_once_of_each_program),
		cmocka_unit_test(whole_stacks_need_no_lessons),
		cmocka_unit_test(a_cut_stack_asks_for_lessons),
	};

	first();
	second();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
