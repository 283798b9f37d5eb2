/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Probabilities, against printed tables and against each other. */
#include "base/distribution.h"
#include "unit/unit.h"

#include <math.h>

#define assert_near(value, wanted, within) assert_true(fabs((value) - (wanted)) <= (within))

/* Abramowitz and Stegun, table 26.10; the last line is the normal distribution's. */
static void students_t_is_as_printed(void **state)
{
	static const struct {
		double freedom, at_5_percent, at_1_percent;
	} rows[] = {
		{1, 12.706, 63.657},	  {2, 4.303, 9.925},  {4, 2.776, 4.604},
		{8, 2.306, 3.355},	  {30, 2.042, 2.750}, {120, 1.980, 2.617},
		{INFINITY, 1.960, 2.576},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_near(student_quantile(0.05, rows[i].freedom), rows[i].at_5_percent, 6e-4);
		assert_near(student_quantile(0.01, rows[i].freedom), rows[i].at_1_percent, 6e-4);
		assert_near(student_tail(rows[i].at_5_percent, rows[i].freedom), 0.05, 1e-4);
		assert_near(student_tail(-rows[i].at_5_percent, rows[i].freedom), 0.05, 1e-4);
	}
	(void)state;
}

static void quantiles_are_the_inverse_of_tails(void **state)
{
	static const double freedoms[] = {1, 1.5, 3, 7.9, 26, 1000, 1e5, INFINITY};
	static const double probabilities[] = {1, 0.5, 0.05, 1e-3, 1e-6, 1e-12};

	for (size_t i = 0; i < sizeof(freedoms) / sizeof(freedoms[0]); i++)
		for (size_t k = 0; k < sizeof(probabilities) / sizeof(probabilities[0]); k++) {
			double t = student_quantile(probabilities[k], freedoms[i]);

			/* One degree of freedom goes out to 1e12. */
			assert_near(student_tail(t, freedoms[i]) / probabilities[k], 1, 1e-6);
		}
	(void)state;
}

/* Fisher's lady who tastes tea; and the sums of two hypergeometric terms by hand:
 * (12 + 1) of 1352078 · 2 ways. */
static void exact_tests_add_up_what_is_not_more_likely(void **state)
{
	double least;

	assert_near(fisher_exact((u64[]){3, 1}, (u64[]){4, 4}, &least), 34.0 / 70, 1e-12);
	assert_near(least, 2.0 / 70, 1e-12);
	assert_near(fisher_exact((u64[]){4, 0}, (u64[]){4, 4}, NULL), 2.0 / 70, 1e-12);
	assert_near(fisher_exact((u64[]){2, 2}, (u64[]){4, 4}, NULL), 1, 1e-12);
	assert_near(fisher_exact((u64[]){1, 9}, (u64[]){12, 12}, NULL), 0.002759456, 1e-8);
	assert_near(fisher_exact((u64[]){0, 0}, (u64[]){5, 7}, &least), 1, 1e-12);
	assert_near(least, 1, 1e-12);
	(void)state;
}

static void exact_tests_do_not_care_about_sides(void **state)
{
	double least[2];

	assert_near(fisher_exact((u64[]){3, 900}, (u64[]){400, 90000}, &least[0]),
		    fisher_exact((u64[]){900, 3}, (u64[]){90000, 400}, &least[1]), 1e-9);
	assert_near(least[0], least[1], 1e-12);
	(void)state;
}

static void exact_tests_near_the_normal_one_for_large_counts(void **state)
{
	double p = fisher_exact((u64[]){450, 530}, (u64[]){10000, 10000}, NULL);
	double z = (0.053 - 0.045) / sqrt(0.049 * 0.951 * 2 / 10000);

	assert_near(p / student_tail(z, INFINITY), 1, 0.12);
	(void)state;
}

/* By hand: (F3(q) / 0.9) with q = 2.7055, the 90th percentile. */
static void trimmed_chi_squared_is_smaller(void **state)
{
	assert_near(chi_squared_trimmed_mean(0.9), 0.6230, 1e-4);
	assert_near(chi_squared_trimmed_mean(1), 1, 1e-12);
	assert_near(chi_squared_trimmed_mean(0.999999), 1, 1e-4);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(students_t_is_as_printed),
		cmocka_unit_test(quantiles_are_the_inverse_of_tails),
		cmocka_unit_test(exact_tests_add_up_what_is_not_more_likely),
		cmocka_unit_test(exact_tests_do_not_care_about_sides),
		cmocka_unit_test(exact_tests_near_the_normal_one_for_large_counts),
		cmocka_unit_test(trimmed_chi_squared_is_smaller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
