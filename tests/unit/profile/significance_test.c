/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Same or different: made-up recordings whose samples are known to be independent, to come in
 * bursts, or to vary from run to run; and single differences by hand.
 *
 * What is random is made by a generator with a fixed seed, so a run is like the other.
 */
#include "profile/significance.h"
#include "unit/unit.h"

#include <math.h>
#include <string.h>

enum { FUNCTIONS = 60, SLICES = 64, RUNS_MAX = 6 };

#define assert_near(value, wanted, within) assert_true(fabs((value) - (wanted)) <= (within))

/* --- made-up recordings --- */

static u64 random_state;

/* xorshift64* (Marsaglia 2003, Vigna 2014), 0 … 1. */
static double random_unit(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (double)(random_state * 0x2545f4914f6cdd1du >> 11) / 9007199254740992.0;
}

/* Box and Muller. */
static double random_normal(void)
{
	return sqrt(-2 * log(1 - random_unit())) * cos(2 * M_PI * random_unit());
}

struct load {
	u32 samples;
	double burst;	   /* samples that one function has in a row, on average; 1: independent */
	double run_spread; /* relative, of each function's time from run to run */
	double planted;	   /* points more for function 5 of the second side */
};

struct recording {
	u32 counts[FUNCTIONS], slices[FUNCTIONS][SLICES], whole[SLICES];
};

/* Shares that fall as those of real programs do, ending at 1 when summed. */
static void make_shares(const struct load *load, bool is_second, double *ret_until)
{
	double weights[FUNCTIONS], sum = 0, until = 0;

	for (u32 i = 0; i < FUNCTIONS; i++) {
		weights[i] = 1.0 / (i + 1) * exp(load->run_spread * random_normal());
		sum += weights[i];
	}
	for (u32 i = 0; i < FUNCTIONS; i++)
		weights[i] /= sum;
	for (u32 i = 0; is_second && i < FUNCTIONS; i++)
		weights[i] = weights[i] * (1 - load->planted) + (i == 5 ? load->planted : 0);
	for (u32 i = 0; i < FUNCTIONS; i++)
		ret_until[i] = until += weights[i];
}

static u32 draw_function(const double *until)
{
	double at = random_unit() * until[FUNCTIONS - 1];
	u32 function = 0;

	while (function + 1 < FUNCTIONS && until[function] < at)
		function++;
	return function;
}

static void record(const struct load *load, bool is_second, struct recording *ret)
{
	double until[FUNCTIONS];
	u32 function = 0;

	make_shares(load, is_second, until);
	memset(ret, 0, sizeof(*ret));
	for (u32 i = 0; i < load->samples; i++) {
		u32 slice = i * SLICES / load->samples;

		if (!i || random_unit() * load->burst < 1)
			function = draw_function(until);
		ret->counts[function]++;
		ret->slices[function][slice]++;
		ret->whole[slice]++;
	}
}

enum test_kind { WHOLE_TEST, WITHOUT_SLICES, AS_ONE_RUN };

/* Compares `runs` recordings a side; how many functions are marked. */
static u32 compare(const struct load *load, u32 runs, enum test_kind kind, u32 *ret_planted_marked)
{
	static struct recording recordings[RUNS_MAX];
	struct sampled totals[RUNS_MAX], parts[FUNCTIONS][RUNS_MAX];
	struct significance_question questions[FUNCTIONS];
	double seconds[RUNS_MAX] = {0};
	u32 sides = kind == AS_ONE_RUN ? 1 : runs, marked = 0;
	struct significance_settings settings = {.alpha = 0.05,
						 .totals = totals,
						 .seconds = seconds,
						 .before_count = sides,
						 .after_count = sides};
	struct change changes[FUNCTIONS];

	memset(totals, 0, sizeof(totals));
	for (u32 i = 0; i < 2 * runs; i++) {
		struct sampled *total = &totals[kind == AS_ONE_RUN ? i / runs : i];

		record(load, i >= runs, &recordings[i]);
		total->weight += load->samples;
		total->samples += load->samples;
	}
	memset(parts, 0, sizeof(parts));
	for (u32 f = 0; f < FUNCTIONS; f++) {
		struct dispersion dispersion = {0};

		questions[f] = (struct significance_question){.parts = parts[f]};
		for (u32 i = 0; i < 2 * runs; i++) {
			struct sampled *part = &parts[f][kind == AS_ONE_RUN ? i / runs : i];

			part->weight += recordings[i].counts[f];
			part->samples += recordings[i].counts[f];
			dispersion_add(&dispersion, recordings[i].slices[f], recordings[i].whole,
				       SLICES);
		}
		if (kind != WITHOUT_SLICES)
			questions[f].dispersion = dispersion_factor(&dispersion);
		dispersion_release(&dispersion);
	}
	significance_judge(&settings, questions, FUNCTIONS, changes);
	for (u32 f = 0; f < FUNCTIONS; f++)
		marked += changes[f].verdict == BEYOND_CHANCE;
	if (ret_planted_marked)
		*ret_planted_marked = changes[5].verdict == BEYOND_CHANCE;
	return marked;
}

/* Of `pairs` comparisons, the share in which anything was marked. */
static double alarms(const struct load *load, u32 runs, enum test_kind kind, u32 pairs)
{
	u32 count = 0;

	random_state = 88172645463325252u;
	for (u32 i = 0; i < pairs; i++)
		count += compare(load, runs, kind, NULL) > 0;
	return (double)count / pairs;
}

/* --- equal loads --- */

static void independent_samples_give_no_more_alarms_than_promised(void **state)
{
	assert_true(alarms(&(struct load){.samples = 300, .burst = 1}, 1, WHOLE_TEST, 400) <= 0.05);
	assert_true(alarms(&(struct load){.samples = 4000, .burst = 1}, 1, WHOLE_TEST, 200) <=
		    0.05);
	(void)state;
}

static void bursts_give_no_more_alarms_than_promised(void **state)
{
	struct load load = {.samples = 10000, .burst = 8};

	assert_true(alarms(&load, 1, WHOLE_TEST, 150) <= 0.05);
	assert_true(alarms(&load, 1, WITHOUT_SLICES, 150) > 0.5); /* so the slices are needed */
	(void)state;
}

static void runs_that_vary_give_no_more_alarms_than_promised(void **state)
{
	struct load load = {.samples = 6000, .burst = 1, .run_spread = 0.15};

	assert_true(alarms(&load, 3, WHOLE_TEST, 100) <= 0.05);
	assert_true(alarms(&load, 3, AS_ONE_RUN, 100) > 0.5); /* so the spread is needed */
	(void)state;
}

/* --- a planted change --- */

static u32 times_found(const struct load *load, u32 runs, u32 pairs, u32 *ret_others)
{
	u32 found = 0, marked, others = 0;

	random_state = 362436069362436069u;
	for (u32 i = 0; i < pairs; i++) {
		others += compare(load, runs, WHOLE_TEST, &marked) - marked;
		found += marked;
	}
	if (ret_others)
		*ret_others = others;
	return found;
}

/* Function 5 has 3.6%. */
static void two_points_more_are_found_in_20000_samples(void **state)
{
	struct load load = {.samples = 20000, .burst = 1, .planted = 0.02};

	assert_true(times_found(&load, 1, 40, NULL) >= 39);
	(void)state;
}

static void two_points_more_are_found_among_runs_that_vary(void **state)
{
	struct load load = {.samples = 20000, .burst = 1, .run_spread = 0.05, .planted = 0.02};
	u32 others;

	assert_true(times_found(&load, 3, 25, &others) >= 23);
	assert_true(others <= 5);
	(void)state;
}

static void a_quarter_of_a_point_is_not_found_in_2000_samples(void **state)
{
	struct load load = {.samples = 2000, .burst = 1, .planted = 0.0025};

	assert_true(times_found(&load, 1, 40, NULL) <= 2);
	(void)state;
}

/* --- one function --- */

static struct change judge_one(const struct significance_settings *settings,
			       const struct significance_question *question)
{
	struct change change;

	significance_judge(settings, question, 1, &change);
	return change;
}

static struct change judge(double before, double before_of, double after, double after_of)
{
	struct sampled totals[] = {{before_of, before_of}, {after_of, after_of}};
	struct sampled parts[] = {{before, before}, {after, after}};
	double seconds[] = {0, 0};
	struct significance_settings settings = {.alpha = 0.05,
						 .totals = totals,
						 .seconds = seconds,
						 .before_count = 1,
						 .after_count = 1};

	return judge_one(&settings, &(struct significance_question){.parts = parts});
}

static void an_interval_holds_the_difference(void **state)
{
	struct change change = judge(100, 1000, 130, 1000);

	assert_near(change.before, 0.1, 1e-12);
	assert_near(change.after, 0.13, 1e-12);
	/* Newcombe's method 10 with 1000 samples gives 0.0021 … 0.0580; the runs add a little. */
	assert_near(change.low, 0.0015, 0.0011);
	assert_near(change.high, 0.0585, 0.0011);
	(void)state;
}

static void a_function_that_is_new_has_an_interval_above_zero(void **state)
{
	struct change change = judge(0, 10000, 60, 10000);

	assert_true(change.low > 0.003 && change.low < 0.006);
	assert_true(change.high > 0.006 && change.high < 0.01);
	assert_true(change.p < 1e-6);
	(void)state;
}

static void few_samples_say_that_they_are_few(void **state)
{
	assert_int_equal(judge(0, 1000, 3, 1000).verdict, TOO_FEW_SAMPLES);
	assert_int_equal(judge(1, 1000, 4, 1000).verdict, TOO_FEW_SAMPLES);
	assert_int_equal(judge(5, 1000, 8, 1000).verdict, WITHIN_CHANCE);
	assert_int_equal(judge(0, 1000, 8, 1000).verdict, BEYOND_CHANCE);
	assert_int_equal(judge(3, 1000, 0, 0).verdict, TOO_FEW_SAMPLES);
	(void)state;
}

static void what_is_all_of_both_sides_did_not_change(void **state)
{
	struct change change = judge(500, 500, 900, 900);

	assert_true(change.low == 0 && change.high == 0 && change.p == 1);
	(void)state;
}

static void a_small_side_against_a_large_one_is_tested_exactly(void **state)
{
	/* 1 of 100 against 10 of 100,000: 2 · P(at least 1 of 100 …) by Fisher is 0.011. */
	struct change change = judge(1, 100, 10, 100000);

	assert_true(change.p > 0.005 && change.p < 0.05);
	(void)state;
}

/* The heavier the samples are that a function has, the fewer of them there are to tell by. */
static void samples_count_and_not_their_weight(void **state)
{
	struct sampled totals[] = {{100000, 1000}, {100000, 1000}};
	struct sampled light[] = {{10000, 100}, {13000, 130}};
	struct sampled heavy[] = {{10000, 10}, {13000, 13}};
	double seconds[] = {0, 0};
	struct significance_settings settings = {.alpha = 0.05,
						 .totals = totals,
						 .seconds = seconds,
						 .before_count = 1,
						 .after_count = 1};
	struct change equal = judge_one(&settings, &(struct significance_question){.parts = light});
	struct change few = judge_one(&settings, &(struct significance_question){.parts = heavy});

	assert_near(equal.p, judge(100, 1000, 130, 1000).p, 1e-12);
	assert_true(few.p > 0.3);
	assert_near(few.after - few.before, equal.after - equal.before, 1e-12);
	(void)state;
}

/* As much CPU time for one function more as the whole took: it may be the machine. */
static void a_run_that_was_slower_as_a_whole_proves_less(void **state)
{
	assert_true(judge(400, 10000, 520, 10100).p < 0.003);
	assert_true(judge(400, 10000, 650, 12700).p > 0.01);
	(void)state;
}

static void what_one_function_takes_more_is_no_slower_run(void **state)
{
	assert_true(judge(500, 10000, 3500, 13000).p < 1e-6);
	(void)state;
}

static void the_kernel_may_vary_more(void **state)
{
	struct sampled totals[] = {{10000, 10000}, {10000, 10000}};
	struct sampled parts[] = {{20, 20}, {60, 60}};
	double seconds[] = {0, 0};
	struct significance_settings settings = {.alpha = 0.05,
						 .totals = totals,
						 .seconds = seconds,
						 .before_count = 1,
						 .after_count = 1};
	struct significance_question question = {.parts = parts};

	assert_true(judge_one(&settings, &question).p < 1e-3);
	question.is_kernel = true;
	assert_true(judge_one(&settings, &question).p > 0.01);
	(void)state;
}

/* --- many --- */

/* Benjamini and Hochberg's own example (1995, 3.2): at 0.05 four of fifteen. */
static void the_false_discovery_rate_is_as_in_the_paper(void **state)
{
	static const double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
				   0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
	struct change changes[16];
	u32 marked = 0;

	for (u32 i = 0; i < 15; i++)
		changes[14 - i] = (struct change){.p = p[i], .verdict = WITHIN_CHANCE};
	changes[15] = (struct change){.p = 1e-9, .adjusted_p = 1, .verdict = TOO_FEW_SAMPLES};
	assert_int_equal(significance_adjust(0.05, changes, 16), 15);
	for (u32 i = 0; i < 15; i++)
		marked += changes[i].verdict == BEYOND_CHANCE;
	assert_int_equal(marked, 4);
	assert_near(changes[14].adjusted_p, 0.0015, 1e-9);
	assert_near(changes[11].adjusted_p, 0.0095 * 15 / 4, 1e-9);
	assert_int_equal(changes[15].verdict, TOO_FEW_SAMPLES);
	assert_true(changes[15].adjusted_p == 1);
	(void)state;
}

static void the_smallest_change_shrinks_with_samples(void **state)
{
	struct sampled few[] = {{1000, 1000}, {1000, 1000}};
	struct sampled many[] = {{20000, 20000}, {20000, 20000}};
	double seconds[] = {0, 0};
	struct significance_settings settings = {.alpha = 0.05,
						 .totals = few,
						 .seconds = seconds,
						 .before_count = 1,
						 .after_count = 1};
	double of_few = significance_smallest(&settings, 0.05, 100);
	double of_many;

	settings.totals = many;
	of_many = significance_smallest(&settings, 0.05, 100);
	assert_true(of_few > 0.03 && of_few < 0.06);
	assert_true(of_many > 0.009 && of_many < 0.02);
	assert_true(significance_smallest(&settings, 0.05, 10) < of_many);
	(void)state;
}

/* --- slices --- */

static void independent_slices_have_no_dispersion(void **state)
{
	u32 part[] = {5, 5, 4, 6, 5, 5, 7, 4, 5, 6, 5, 5, 4, 5, 6, 5};
	u32 whole[] = {20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20};
	struct dispersion dispersion = {0};

	dispersion_add(&dispersion, part, whole, 16);
	assert_int_equal(dispersion_factor(&dispersion).pairs, 8);
	assert_true(dispersion_factor(&dispersion).factor < 1);
	dispersion_release(&dispersion);
	assert_int_equal(dispersion_factor(&dispersion).pairs, 0); /* nothing known */
	(void)state;
}

static void a_change_of_phase_is_no_dispersion_but_bursts_are(void **state)
{
	u32 phases[32], bursts[32], whole[32];
	struct dispersion dispersion = {0};

	for (u32 i = 0; i < 32; i++) {
		phases[i] = i < 15 ? 50 : 5; /* the border lies within a pair */
		bursts[i] = i % 2 ? 50 : 5;
		whole[i] = 100;
	}
	dispersion_add(&dispersion, phases, whole, 32);
	assert_true(dispersion_factor(&dispersion).factor < 1);
	dispersion_release(&dispersion);
	dispersion_add(&dispersion, bursts, whole, 32);
	assert_true(dispersion_factor(&dispersion).factor > 10);
	dispersion_release(&dispersion);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(independent_samples_give_no_more_alarms_than_promised),
		cmocka_unit_test(bursts_give_no_more_alarms_than_promised),
		cmocka_unit_test(runs_that_vary_give_no_more_alarms_than_promised),
		cmocka_unit_test(two_points_more_are_found_in_20000_samples),
		cmocka_unit_test(two_points_more_are_found_among_runs_that_vary),
		cmocka_unit_test(a_quarter_of_a_point_is_not_found_in_2000_samples),
		cmocka_unit_test(an_interval_holds_the_difference),
		cmocka_unit_test(a_function_that_is_new_has_an_interval_above_zero),
		cmocka_unit_test(few_samples_say_that_they_are_few),
		cmocka_unit_test(what_is_all_of_both_sides_did_not_change),
		cmocka_unit_test(a_small_side_against_a_large_one_is_tested_exactly),
		cmocka_unit_test(samples_count_and_not_their_weight),
		cmocka_unit_test(a_run_that_was_slower_as_a_whole_proves_less),
		cmocka_unit_test(what_one_function_takes_more_is_no_slower_run),
		cmocka_unit_test(the_kernel_may_vary_more),
		cmocka_unit_test(the_false_discovery_rate_is_as_in_the_paper),
		cmocka_unit_test(the_smallest_change_shrinks_with_samples),
		cmocka_unit_test(independent_slices_have_no_dispersion),
		cmocka_unit_test(a_change_of_phase_is_no_dispersion_but_bursts_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
