/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Several recordings in one profile, side by side.
 */
#include "unit/unit.h"

#include "unit/profile/view.h"

/* The samples of perf's hists_link test (facts 7.5): some common to both, the others of one side.
 */
static const struct machine_sample leader[] = {
	{PERF1, 0, KERNEL + FIRST, {0}},  {PERF2, 0, PROGRAM + FIRST, {0}},
	{PERF2, 0, PROGRAM + THIRD, {0}}, {BASH, 0, PROGRAM + SECOND, {0}},
	{BASH, 0, LIBC + FIRST, {0}},	  {PERF1, 0, PROGRAM + SECOND, {0}},
	{PERF1, 0, LIBC + FIRST, {0}},	  {PERF1, 0, KERNEL + SECOND, {0}},
	{PERF2, 0, KERNEL + THIRD, {0}},  {BASH, 0, LIBC + SECOND, {0}},
};

static const struct machine_sample other[] = {
	{PERF1, 0, KERNEL + FIRST, {0}},  {PERF2, 0, PROGRAM + FIRST, {0}},
	{PERF2, 0, PROGRAM + THIRD, {0}}, {BASH, 0, PROGRAM + SECOND, {0}},
	{BASH, 0, LIBC + FIRST, {0}},	  {PERF2, 0, LIBC + SECOND, {0}},
	{BASH, 0, LIBC + FIRST, {0}},	  {BASH, 0, PROGRAM + THIRD, {0}},
	{BASH, 0, LIBC + THIRD, {0}},	  {BASH, 0, KERNEL + SECOND, {0}},
};

struct sides {
	struct profile *profile;
	struct fold *fold;
	struct comparison *comparison;
};

static struct profile *unnamed_profile(const struct machine_sample *samples, size_t count)
{
	static const struct event_source source = {.name = "cpu-clock"};
	struct builder_settings settings = {.keep = KEEP_PID | KEEP_TID, .skip_chains = true};
	struct profile_builder *builder = profile_builder_new(&settings, &source, 1);
	struct profile *profile;

	machine_boot(profile_builder_sink(builder));
	for (size_t i = 0; i < count; i++)
		machine_take(profile_builder_sink(builder), &samples[i], 1, 0);
	profile = profile_builder_take(builder);
	profile_builder_free(builder);
	return profile;
}

static struct sides compare(const char *sort, struct comparison_settings settings)
{
	static const struct comparison_run runs[] = {{0, 0}, {1, 1}};
	struct entry_layout_settings layout = {.sort = sort};
	struct sides sides = {.profile = unnamed_profile(leader, ARRAY_COUNT(leader))};
	struct profile *second = unnamed_profile(other, ARRAY_COUNT(other));

	assert_int_equal(profile_join(sides.profile, second), 1);
	profile_free(second);
	machine_name(sides.profile);
	sides.fold = fold_new(sides.profile, FOLD_BY_FUNCTION);
	assert_int_equal(entry_layout_parse(&layout, &settings.list.layout), 0);
	settings.runs = runs;
	settings.run_count = settings.side_count = 2;
	settings.order = 1;
	sides.comparison = comparison_new(sides.fold, &settings);
	return sides;
}

static void release(struct sides *sides)
{
	comparison_free(sides->comparison);
	fold_free(sides->fold);
	profile_free(sides->profile);
}

static size_t count_on(const struct comparison *comparison, bool first, bool second)
{
	size_t count = 0;

	for (u32 i = 0; i < comparison->entries.count; i++)
		count += comparison_value(comparison, i, 0)->is_there == first &&
			 comparison_value(comparison, i, 1)->is_there == second;
	return count;
}

static void joined_profiles_share_rows_but_not_threads(void **state)
{
	struct profile *profile = unnamed_profile(leader, ARRAY_COUNT(leader));
	struct profile *second = unnamed_profile(leader, ARRAY_COUNT(leader));
	size_t locations = profile->locations.count, threads = profile->threads.count - 1;

	profile_join(profile, second);
	assert_int_equal(profile->locations.count, locations);
	assert_int_equal(profile->threads.count - 1, 2 * threads);
	assert_int_equal(profile->sources.count, 2);
	assert_int_equal(profile->counts.count, 2 * second->counts.count);
	assert_int_equal(profile->counts.items[profile->counts.count - 1].source, 1);
	assert_int_equal(profile->totals.samples, 2 * ARRAY_COUNT(leader));
	profile_free(profile);
	profile_free(second);
	(void)state;
}

static void lines_are_paired_by_what_they_read(void **state)
{
	struct sides sides = compare("comm,dso,symbol", (struct comparison_settings){0});

	assert_int_equal(sides.comparison->lists[0]->entries.count, 10);
	assert_int_equal(sides.comparison->lists[1]->entries.count, 9);
	assert_int_equal(count_on(sides.comparison, true, true), 5);
	assert_int_equal(count_on(sides.comparison, true, false), 5);
	assert_int_equal(count_on(sides.comparison, false, true), 4);
	release(&sides);
	(void)state;
}

static void paired_only_leaves_the_rest_out(void **state)
{
	struct sides sides = compare("comm,dso,symbol",
				     (struct comparison_settings){.paired_only = true});

	assert_int_equal(sides.comparison->sorted_count, 5);
	assert_int_equal(sides.comparison->base_total, 10);
	release(&sides);
	sides = compare("comm,dso,symbol",
			(struct comparison_settings){.paired_only = true, .is_strict = true});
	assert_int_equal(sides.comparison->sorted_count, 5);
	assert_int_equal(sides.comparison->base_total, 5);
	release(&sides);
	(void)state;
}

static void what_a_side_does_not_have_is_nothing_or_unknown(void **state)
{
	struct sides sane = compare("comm,dso,symbol", (struct comparison_settings){0});
	struct sides strict = compare("comm,dso,symbol",
				      (struct comparison_settings){.is_strict = true});
	size_t sane_figures = 0, strict_figures = 0;

	for (u32 i = 0; i < sane.comparison->entries.count; i++)
		sane_figures += comparison_has_figure(sane.comparison, i, 1);
	for (u32 i = 0; i < strict.comparison->entries.count; i++)
		strict_figures += comparison_has_figure(strict.comparison, i, 1);
	assert_int_equal(sane_figures, 14);
	assert_int_equal(strict_figures, 9);
	release(&sane);
	release(&strict);
	(void)state;
}

/* malloc of bash: 1 of 10 before, 2 of 10 after. */
static void the_largest_difference_comes_first(void **state)
{
	struct sides sides = compare("comm,dso",
				     (struct comparison_settings){.method = COMPARE_DELTA_ABS});
	const struct comparison *comparison = sides.comparison;

	for (size_t i = 1; i < comparison->sorted_count; i++) {
		double before = comparison_delta(comparison, comparison->sorted[i - 1], 1);
		double after = comparison_delta(comparison, comparison->sorted[i], 1);

		assert_true((before < 0 ? -before : before) >= (after < 0 ? -after : after));
	}
	release(&sides);
	(void)state;
}

static void rows_of_a_joined_profile_are_found_again(void **state)
{
	struct profile *profile = unnamed_profile(leader, ARRAY_COUNT(leader));
	struct profile *second = unnamed_profile(other, ARRAY_COUNT(other));
	size_t count = profile->counts.count + second->counts.count;
	struct count_row last;

	profile_join(profile, second);
	profile_free(second);
	assert_int_equal(profile->counts.count, count);
	last = profile->counts.items[count - 1];
	assert_int_equal(profile_add(profile, &last), count - 1);
	assert_int_equal(profile->counts.count, count);
	assert_int_equal(profile->counts.items[count - 1].samples, 2 * last.samples);
	profile_free(profile);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_a_joined_profile_are_found_again),
		cmocka_unit_test(joined_profiles_share_rows_but_not_threads),
		cmocka_unit_test(lines_are_paired_by_what_they_read),
		cmocka_unit_test(paired_only_leaves_the_rest_out),
		cmocka_unit_test(what_a_side_does_not_have_is_nothing_or_unknown),
		cmocka_unit_test(the_largest_difference_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
