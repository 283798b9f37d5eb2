/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Branch stacks on their way from the kernel: what comes out of the ring is what the kernel had.
 */
#include "capture/bpf_object.h"
#include "kernel/scripted_branches.h"

enum { ROUNDS = 10, DEPTH = 32 };

/* Compares what comes with the scripts of the round. */
struct comparer {
	struct event_sink sink;
	const struct script *scripts;
	u32 count;
};

static u64 entries_expected(const struct script *script)
{
	if (script->trick != TRICK_NONE || script->nr > BRANCH_STACK_BELIEVED)
		return 0;
	return script->nr < DEPTH ? script->nr : DEPTH;
}

static int compare(struct event_sink *self, const struct sample *sample)
{
	struct comparer *comparer = (struct comparer *)self;
	const struct script *script = &comparer->scripts[comparer->count++];
	bool has_stack = script->trick == TRICK_NONE && script->nr <= BRANCH_STACK_BELIEVED;

	assert_int_equal(sample->time_ns, script->header.time_ns);
	assert_int_equal(sample->frame_count,
			 script->header.kernel_frames + script->header.user_frames);
	for (u32 i = 0; i < sample->frame_count; i++)
		assert_int_equal(sample->frames[i].address, script->frames[i]);
	assert_int_equal(sample->branch_count, entries_expected(script));
	assert_true(sample->hw_idx == (has_stack ? script->hw_idx : BRANCH_INDEX_UNKNOWN));
	if (sample->branch_count)
		assert_memory_equal(sample->branches, script->entries,
				    sample->branch_count * sizeof(*sample->branches));
	return 0;
}

/* Plays a round that is in the player's map, and compares all of it. */
static void play_and_compare(struct player *player)
{
	struct comparer comparer = {.sink = {.on_sample = compare}, .scripts = player->scripts};

	play(player, &comparer.sink);
	assert_int_equal(comparer.count, SCRIPTS_MAX);
}

static void bytes_and_index_are_those_that_the_kernel_had(void **state)
{
	CLEANUP(player_release) struct player player = {0};

	player_open(&player, DEPTH);
	for (u32 round = 0; round < ROUNDS; round++) {
		for (u32 i = 0; i < SCRIPTS_MAX; i++)
			script_random(&player.scripts[i], round * SCRIPTS_MAX + i, DEPTH);
		play_and_compare(&player);
	}
	assert_int_equal(counter_of(&player, COUNTER_samples_sent), ROUNDS * SCRIPTS_MAX);
	assert_int_equal(counter_of(&player, COUNTER_branches_truncated), 0);
	assert_int_equal(counter_of(&player, COUNTER_branches_garbage), 0);
	assert_int_equal(counter_of(&player, COUNTER_branches_missing), 0);
	(void)state;
}

static void entries_beyond_the_registers_are_left_out_and_counted(void **state)
{
	CLEANUP(player_release) struct player player = {0};
	u32 truncated = 0;

	player_open(&player, DEPTH);
	for (u32 i = 0; i < SCRIPTS_MAX; i++) {
		script_random(&player.scripts[i], i, DEPTH);
		player.scripts[i].nr = i % (SCRIPT_ENTRIES + 1);
		truncated += player.scripts[i].nr > DEPTH;
	}
	play_and_compare(&player);
	assert_int_equal(counter_of(&player, COUNTER_branches_truncated), truncated);
	assert_true(truncated > 0);
	(void)state;
}

static void what_is_no_branch_stack_is_left_out_and_counted(void **state)
{
	static const u64 counts[] = {BRANCH_STACK_BELIEVED + 1, 573463052421, 0xcccccccccccccccf,
				     1ULL << 63, ~0ULL};
	CLEANUP(player_release) struct player player = {0};

	player_open(&player, DEPTH);
	for (u32 i = 0; i < SCRIPTS_MAX; i++) {
		script_random(&player.scripts[i], i, DEPTH);
		player.scripts[i].nr = counts[i % ARRAY_COUNT(counts)];
	}
	play_and_compare(&player);
	assert_int_equal(counter_of(&player, COUNTER_branches_garbage), SCRIPTS_MAX);
	(void)state;
}

static void pointers_that_lead_nowhere_are_not_followed(void **state)
{
	static const struct {
		u64 trick;
		u32 counter;
	} rows[] = {{TRICK_NULL, COUNTER_branches_missing},
		    {TRICK_UNSAID, COUNTER_branches_missing},
		    {TRICK_INVALID, COUNTER_branches_garbage}};

	for (size_t row = 0; row < ARRAY_COUNT(rows); row++) {
		CLEANUP(player_release) struct player player = {0};

		player_open(&player, DEPTH);
		for (u32 i = 0; i < SCRIPTS_MAX; i++) {
			script_random(&player.scripts[i], i, DEPTH);
			player.scripts[i].trick = rows[row].trick;
		}
		play_and_compare(&player);
		assert_int_equal(counter_of(&player, rows[row].counter), SCRIPTS_MAX);
	}
	(void)state;
}

/* What a recording loads; here nothing overflows that has branch records. */
static void programs_that_take_branch_stacks_load(void **state)
{
	static const u8 walkers[] = {0, WALKER_FRAME_POINTER,
				     WALKER_EH_FRAME | WALKER_FRAME_POINTER};

	skip_without_permission();
	for (size_t i = 0; i < ARRAY_COUNT(walkers); i++) {
		struct program_plan plan = {
			.settings = {.max_stack = 127,
				     .wants_stacks = walkers[i] != 0,
				     .walkers = walkers[i],
				     .wants_branches = 1,
				     .branch_depth = DEPTH},
			.source_count = 2,
			.ring_bytes = 1 << 20,
			.unwind_segments = 1,
		};
		struct programs *programs = NULL;

		assert_int_equal(programs_load(&plan, &programs), 0);
		programs_free(programs);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_and_index_are_those_that_the_kernel_had),
		cmocka_unit_test(entries_beyond_the_registers_are_left_out_and_counted),
		cmocka_unit_test(what_is_no_branch_stack_is_left_out_and_counted),
		cmocka_unit_test(pointers_that_lead_nowhere_are_not_followed),
		cmocka_unit_test(programs_that_take_branch_stacks_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
