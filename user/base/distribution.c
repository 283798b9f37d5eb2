/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Probabilities by the C library's gamma and error functions, a continued fraction, and bisection.
 */
#include "base/distribution.h"

#include <math.h>

enum { FRACTION_TERMS = 500, BISECTIONS = 60, NEWTON_STEPS = 4 };

static const double tiny = 1e-300, enough = 1e-14;
static const double equal_within = 1e-9; /* equal probabilities differ in their last digits */
static const double normal_from = 1e6;	 /* degrees of freedom: no difference is left */

/* --- Student's t --- */

/* A denominator or numerator of the continued fraction, kept from 0. */
static double kept_off_zero(double value)
{
	return fabs(value) < tiny ? tiny : value;
}

/* The continued fraction of DLMF 8.17.22 by the modified Lentz method, evaluated from the front. */
static double beta_fraction(double a, double b, double x)
{
	double above = 1, below = 1 / kept_off_zero(1 - (a + b) * x / (a + 1));
	double value = below;

	for (int m = 1; m < FRACTION_TERMS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double change;

		below = 1 / kept_off_zero(1 + even * below);
		above = kept_off_zero(1 + even / above);
		value *= above * below;
		below = 1 / kept_off_zero(1 + odd * below);
		above = kept_off_zero(1 + odd / above);
		change = above * below;
		value *= change;
		if (fabs(change - 1) < enough)
			break;
	}
	return value;
}

/* lgamma() writes a global; this does not. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* The regularised incomplete beta function. */
static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_tail(double t, double freedom)
{
	t = fabs(t);
	if (freedom >= normal_from)
		return erfc(t / M_SQRT2);
	return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

static double student_density(double t, double freedom)
{
	double front;

	if (freedom >= normal_from)
		return exp(-t * t / 2) / sqrt(2 * M_PI);
	front = exp(log_gamma((freedom + 1) / 2) - log_gamma(freedom / 2)) / sqrt(freedom * M_PI);
	return front * exp(-(freedom + 1) / 2 * log1p(t * t / freedom));
}

static double bisect_quantile(double probability, double freedom)
{
	double low = 0, high = 1;

	while (student_tail(high, freedom) > probability && high < 1e12)
		high *= 2;
	for (int i = 0; i < BISECTIONS; i++) {
		double middle = (low + high) / 2;

		if (student_tail(middle, freedom) > probability)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* Newton's method, from the normal distribution's quantile as corrected for t's wider tails (the
 * first terms of the expansion in Abramowitz and Stegun, 26.7.5). */
double student_quantile(double probability, double freedom)
{
	double normal = bisect_quantile(probability, INFINITY);
	double cube = normal * normal * normal;
	double t = normal + (cube + normal) / (4 * freedom) +
		   (5 * cube * normal * normal + 16 * cube + 3 * normal) / (96 * freedom * freedom);

	if (freedom >= normal_from)
		return normal;
	for (int i = 0; i < NEWTON_STEPS; i++)
		t += (student_tail(t, freedom) - probability) / (2 * student_density(t, freedom));
	if (fabs(student_tail(t, freedom) - probability) < probability * 1e-9)
		return t;
	return bisect_quantile(probability, freedom);
}

/* --- Fisher's test --- */

/* ln of how many ways there are to choose. */
static double log_choose(double from, double chosen)
{
	return log_gamma(from + 1) - log_gamma(chosen + 1) - log_gamma(from - chosen + 1);
}

struct table {
	double part, whole[2]; /* the sum of the parts; the sides */
	double all;	       /* ln of the ways to choose the parts */
};

/* How likely the first side has `first` of the parts. */
static double table_probability(const struct table *table, double first)
{
	return exp(log_choose(table->whole[0], first) +
		   log_choose(table->whole[1], table->part - first) - table->all);
}

/* Sums, from a table on in steps of `step` up to `end`, what is not more likely than `limit`. Each
 * is a quotient of small numbers less or more likely than the one before. */
static double sum_unlikely(const struct table *table, double from, double end, double limit)
{
	double step = from <= end ? 1 : -1;
	double probability = table_probability(table, from);
	double sum = 0;

	for (double at = from; at * step <= end * step; at += step) {
		double more = step > 0 ? at : at - 1; /* the smaller of this one and the next */
		double ratio = (table->whole[0] - more) * (table->part - more) /
			       ((more + 1) * (table->whole[1] - table->part + more + 1));

		if (probability <= limit)
			sum += probability;
		if (probability < limit * enough)
			break;
		probability *= step > 0 ? ratio : 1 / ratio;
	}
	return sum;
}

static double least_probability(const struct table *table, double first, double last)
{
	double at_first = table_probability(table, first);
	double at_last = table_probability(table, last);
	double least = fmin(at_first, at_last);

	if (first < last && fmax(at_first, at_last) <= least * (1 + equal_within))
		least *= 2;
	return fmin(least, 1);
}

double fisher_exact(const u64 part[2], const u64 whole[2], double *ret_least)
{
	struct table table = {(double)(part[0] + part[1]), {(double)whole[0], (double)whole[1]}, 0};
	double first = fmax(0, table.part - table.whole[1]);
	double last = fmin(table.part, table.whole[0]);
	double likeliest = floor((table.part + 1) * (table.whole[0] + 1) /
				 (table.whole[0] + table.whole[1] + 2));
	double here, sum = 0;

	table.all = log_choose(table.whole[0] + table.whole[1], table.part);
	here = table_probability(&table, (double)part[0]) * (1 + equal_within);
	likeliest = fmin(fmax(likeliest, first), last);
	sum = sum_unlikely(&table, likeliest, last, here);
	if (likeliest > first)
		sum += sum_unlikely(&table, likeliest - 1, first, here);
	if (ret_least)
		*ret_least = least_probability(&table, first, last);
	return fmin(sum, 1);
}

/* --- chi-squared --- */

/* With one degree of freedom: the share below `limit`, and with three; the mean of what is below is
 * their quotient. */
double chi_squared_trimmed_mean(double kept)
{
	double limit, below_one, below_three;

	if (kept >= 1)
		return 1;
	limit = student_quantile(1 - kept, INFINITY);
	limit *= limit;
	below_one = erf(sqrt(limit / 2));
	below_three = below_one - sqrt(2 * limit / M_PI) * exp(-limit / 2);
	return below_three / below_one;
}
