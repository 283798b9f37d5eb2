/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples that become rows side by side: no row tells.
 */
#include "unit/unit.h"

#include "unit/profile/builder_fixture.h"
#include "unit/profile/machine.h"

/* A sample with a key; its frames are left out if the builder knows them. Returns whether it does.
 */
static bool take_keyed(struct fixture *fixture, u64 key)
{
	const struct frame frames[] = {
		{.address = PROGRAM + 1, .space = SPACE_USER},
		{.address = PROGRAM + 2, .space = SPACE_USER},
	};
	struct sample sample = {
		.weight = 1,
		.address = PROGRAM + 1,
		.space = SPACE_USER,
		.pid = 7,
		.tid = 7,
		.chain_key = key,
		.has_chain = true,
	};

	sample.is_known = sink_call(fixture->sink, knows_chain, &sample);
	if (!sample.is_known) {
		sample.frames = frames;
		sample.frame_count = ARRAY_COUNT(frames);
	}
	sink_call(fixture->sink, on_sample, &sample);
	return sample.is_known;
}

/* Chains are looked for several at a time, so one is known a little later. Returns how many samples
 * were taken. */
static u32 take_until_known(struct fixture *fixture, u64 key)
{
	u32 taken = 1;

	while (!take_keyed(fixture, key)) {
		assert_true(taken < 100);
		taken++;
	}
	return taken;
}

static void a_chain_is_known_until_the_mappings_change(void **state)
{
	struct fixture *fixture = *state;
	const struct count_row *counts;
	u32 early, late;

	machine_map(fixture->sink, 7, PROGRAM, "/bin/early");
	assert_false(take_keyed(fixture, 11));
	early = 1 + take_until_known(fixture, 11);
	machine_map(fixture->sink, 7, PROGRAM, "/bin/late");
	assert_false(take_keyed(fixture, 11));
	late = 1 + take_until_known(fixture, 11);
	assert_true(take_keyed(fixture, 11));
	fixture->profile = profile_builder_take(fixture->builder);
	counts = fixture->profile->counts.items;
	assert_int_equal(fixture->profile->counts.count, 2);
	assert_int_equal(counts[0].samples, early);
	assert_int_equal(counts[1].samples, late + 1);
	assert_int_not_equal(counts[0].stack, counts[1].stack);
	assert_int_equal(fixture->profile->stacks.items[counts[1].stack].depth, 2);
	assert_false(take_keyed(fixture, 11)); /* the next profile has no rows yet */
}

static void rows_stand_in_the_order_of_samples(void **state)
{
	enum { COUNT = 50 }; /* more than wait together */
	struct fixture *fixture = *state;
	const struct profile *profile;

	machine_map(fixture->sink, 7, PROGRAM, "/bin/one");
	for (u32 i = 0; i < COUNT; i++)
		take_at(fixture, 7, PROGRAM + i % (COUNT / 2), SPACE_USER);
	profile = fixture->profile = profile_builder_take(fixture->builder);
	assert_int_equal(profile->counts.count, COUNT / 2);
	for (u32 i = 0; i < COUNT / 2; i++) {
		assert_int_equal(profile->counts.items[i].samples, 2);
		assert_int_equal(profile->counts.items[i].stack, i + 1);
		assert_int_equal(profile->counts.items[i].leaf, i + 1);
		assert_int_equal(profile->stacks.items[i + 1].location, i + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_chain_is_known_until_the_mappings_change, setup,
						teardown),
		cmocka_unit_test_setup_teardown(rows_stand_in_the_order_of_samples, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
