/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples that stand for several, in a profile and in what becomes of it.
 */
#include "profile/profile.h"
#include "unit/unit.h"

static const struct event_source source = {.name = "cpu-clock"};

static struct profile *profile_of(const struct sample *samples, u32 count)
{
	struct builder_settings settings = {0};
	struct profile_builder *builder = profile_builder_new(&settings, &source, 1);
	struct event_sink *sink = profile_builder_sink(builder);
	struct profile *profile;

	for (u32 i = 0; i < count; i++)
		sink_call(sink, on_sample, &samples[i]);
	profile = profile_builder_take(builder);
	profile_builder_free(builder);
	return profile;
}

static void a_sample_counts_for_as_many_as_it_stands_for(void **state)
{
	const struct sample samples[] = {
		{.weight = 50, .pid = 7, .tid = 7, .count = 5, .cut = CUT_COMPLETE, .walked = 1},
		{.weight = 50, .pid = 7, .tid = 7, .cut = CUT_COMPLETE, .walked = 1},
	};
	struct profile *profile = profile_of(samples, 2);

	assert_int_equal(profile->counts.count, 1);
	assert_int_equal(profile->counts.items[0].samples, 6);
	assert_int_equal(profile->counts.items[0].weight, 100);
	assert_int_equal(profile->totals.samples, 6);
	assert_int_equal(stack_tally_count(&profile->totals.stacks), 6);
	profile_free(profile);
	(void)state;
}

static void a_source_says_that_its_times_are_not_of_all_samples(void **state)
{
	const struct sample alone[] = {{.weight = 1}, {.weight = 1, .count = 1}};
	const struct sample several[] = {{.weight = 1}, {.weight = 2, .count = 2}};
	struct profile *profile = profile_of(alone, 2);

	assert_false(profile->sources.items[0].is_counted);
	profile_free(profile);
	profile = profile_of(several, 2);
	assert_true(profile->sources.items[0].is_counted);
	profile_free(profile);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_counts_for_as_many_as_it_stands_for),
		cmocka_unit_test(a_source_says_that_its_times_are_not_of_all_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
