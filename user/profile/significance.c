/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Differences of shares against chance; the header says what is done and by whom it was found.
 */
#include "profile/significance.h"

#include "base/distribution.h"

#include <math.h>

enum {
	FEW_EXPECTED = 5, /* samples; fewer: exact test */
	POOLED_PAIRS = 8, /* so many pairs of its own weigh as much as those of all others */
};

/* Between runs, of what a share p may vary: measured, see the header. */
static const double run_variance = 1.0 / 20000, run_variance_kernel = 1.0 / 1000;
static const double run_freedom = 8;
/* Runs whose CPU times differ by more than this vary in the same proportion, doubled. */
static const double equal_load = 0.03, load_factor = 2;
/* Beyond that, recordings are of different length rather than of different load. */
static const double longer_load = 1.5;

/* One side, or both: sums over its recordings. */
struct side {
	double weight, samples, seconds;
	double part_weight, part_samples;
	double squares; /* of the recordings' weights */
	u32 runs;
};

static struct side sum_side(const struct significance_settings *settings,
			    const struct sampled *parts, u32 first, u32 count)
{
	struct side side = {.runs = count};

	for (u32 i = first; i < first + count; i++) {
		side.weight += settings->totals[i].weight;
		side.samples += settings->totals[i].samples;
		side.seconds += settings->seconds[i];
		side.squares += settings->totals[i].weight * settings->totals[i].weight;
		if (!parts)
			continue;
		side.part_weight += parts[i].weight;
		side.part_samples += parts[i].samples;
	}
	return side;
}

static double side_share(const struct side *side)
{
	return side->weight > 0 ? side->part_weight / side->weight : 0;
}

/* How many runs of equal length a side's runs are worth. */
static double side_runs(const struct side *side)
{
	return side->squares > 0 ? side->weight * side->weight / side->squares : 1;
}

/* --- what the samples bring --- */

/* Both sides as one, which they are if nothing changed. */
static struct side join(const struct side sides[2])
{
	return (struct side){
		.weight = sides[0].weight + sides[1].weight,
		.samples = sides[0].samples + sides[1].samples,
		.part_weight = sides[0].part_weight + sides[1].part_weight,
		.part_samples = sides[0].part_samples + sides[1].part_samples,
	};
}

/* Variance of the share by one sample: p(1-p) if all samples weigh the same. */
static double sample_variance(const struct side *all)
{
	double share = side_share(all), counted = all->part_samples / all->samples;
	double mean = all->weight / all->samples;
	double other_samples = all->samples - all->part_samples;
	double part = all->part_samples > 0 ? all->part_weight / all->part_samples / mean : 0;
	double other = other_samples > 0 ? (all->weight - all->part_weight) / other_samples / mean
					 : 0;

	return counted * part * part * (1 - share) * (1 - share) +
	       (1 - counted) * other * other * share * share;
}

/* --- what the runs bring --- */

/* By how much the CPU time of two sides differs, as a logarithm; 0: nobody knows. */
static double load_difference(const struct side sides[2], double before, double after)
{
	double total = fabs(log(after / sides[1].runs) - log(before / sides[0].runs));

	if (total <= log(longer_load))
		return total;
	if (!(sides[0].seconds > 0) || !(sides[1].seconds > 0))
		return 0;
	return fmin(total, fabs(log(after / sides[1].seconds) - log(before / sides[0].seconds)));
}

/* By what share of its time a function may vary between two runs, squared: as their CPU times do,
 * with the function or without it. What it takes more itself is no difference of load. */
static double assume_run_spread(const struct side sides[2])
{
	const struct side *before = &sides[0], *after = &sides[1];
	double load = load_difference(sides, before->weight, after->weight);

	if (before->part_weight < before->weight && after->part_weight < after->weight)
		load = fmin(load, load_difference(sides, before->weight - before->part_weight,
						  after->weight - after->part_weight));
	load = load_factor * fmax(0, load - equal_load);
	return load * load / 2;
}

/* Mean square of the runs' shares around those of their side. */
static double spread_of_runs(const struct significance_settings *settings,
			     const struct sampled *parts, u32 first, u32 count)
{
	double mean = 0, sum = 0;

	for (u32 i = first; i < first + count; i++)
		mean += parts[i].weight / settings->totals[i].weight / count;
	for (u32 i = first; i < first + count; i++) {
		double off = parts[i].weight / settings->totals[i].weight - mean;

		sum += off * off;
	}
	return sum;
}

/* Of the shares of runs, beyond what samples bring. */
struct run_spread {
	double variance, freedom;
};

/* What all functions show together, and are judged by. */
struct common {
	const struct significance_settings *settings;
	double dispersion; /* 1 or more */
	double run_spread; /* variance of runs, of what p²(1-p)² */
};

static u32 run_count(const struct significance_settings *settings)
{
	return settings->before_count + settings->after_count;
}

/* Of one function, as far as the runs of a side show it; 0: they are as alike as samples. */
static double measured_spread(const struct significance_settings *settings,
			      const struct sampled *parts, double by_sample)
{
	u32 before = settings->before_count, count = run_count(settings);
	double squares = spread_of_runs(settings, parts, 0, before) +
			 spread_of_runs(settings, parts, before, settings->after_count);
	double by_samples = 0;

	for (u32 i = 0; i < count; i++)
		by_samples += by_sample / settings->totals[i].samples / count;
	return squares / (count - 2) - by_samples;
}

static struct run_spread find_run_spread(const struct common *common,
					 const struct significance_question *question,
					 const struct side sides[2], double by_sample)
{
	struct side all = join(sides);
	double binomial = side_share(&all) * (1 - side_share(&all));
	u32 count = run_count(common->settings);
	struct run_spread spread = {
		.variance = (question->is_kernel ? run_variance_kernel : run_variance) * binomial +
			    common->run_spread * binomial * binomial,
		.freedom = run_freedom,
	};
	double measured;

	if (count == 2) {
		spread.variance += assume_run_spread(sides) * binomial * binomial;
		return spread;
	}
	measured = measured_spread(common->settings, question->parts, by_sample);
	if (measured > spread.variance)
		spread = (struct run_spread){.variance = measured, .freedom = count - 2};
	return spread;
}

/* --- the test --- */

/* Of a function, all that the test is made of. */
struct evidence {
	struct side sides[2];
	double share;	    /* of both sides together */
	double variance[2]; /* of the share of each side */
	double freedom;
};

/* More pairs of slices than others have let a function speak for itself. */
static double dispersion_of(const struct common *common, struct dispersion_factor own)
{
	double sum = own.factor * own.pairs + common->dispersion * POOLED_PAIRS;

	return fmax(1, sum / (own.pairs + (double)POOLED_PAIRS));
}

static struct evidence weigh(const struct common *common,
			     const struct significance_question *question)
{
	const struct significance_settings *settings = common->settings;
	u32 before = settings->before_count;
	struct evidence evidence = {
		.sides = {sum_side(settings, question->parts, 0, before),
			  sum_side(settings, question->parts, before, settings->after_count)},
	};
	struct side all = join(evidence.sides);
	double by_sample = dispersion_of(common, question->dispersion) * sample_variance(&all);
	struct run_spread spread = find_run_spread(common, question, evidence.sides, by_sample);
	double by_runs = 0, sum = 0;

	evidence.share = side_share(&all);
	for (u32 i = 0; i < 2; i++) {
		double of_runs = spread.variance / side_runs(&evidence.sides[i]);

		evidence.variance[i] = by_sample / evidence.sides[i].samples + of_runs;
		by_runs += of_runs;
		sum += evidence.variance[i];
	}
	evidence.freedom = by_runs > 0 ? sum * sum / (by_runs * by_runs) * spread.freedom
				       : INFINITY;
	return evidence;
}

/* So many independent samples would tell a side's share as well. */
static double effective_samples(const struct evidence *evidence, u32 side)
{
	return evidence->share * (1 - evidence->share) / evidence->variance[side];
}

/* Wilson's interval of a share that has `samples` behind it. */
static void wilson(double share, double samples, double quantile, double ret_bounds[2])
{
	double square = quantile * quantile / samples;
	double middle = (share + square / 2) / (1 + square);
	double half = quantile / (1 + square) *
		      sqrt(share * (1 - share) / samples + square / samples / 4);

	ret_bounds[0] = fmax(0, middle - half);
	ret_bounds[1] = fmin(1, middle + half);
}

static void find_interval(const struct evidence *evidence, double alpha, struct change *change)
{
	double quantile = student_quantile(alpha, evidence->freedom);
	double before[2], after[2], delta = change->after - change->before;

	wilson(change->before, effective_samples(evidence, 0), quantile, before);
	wilson(change->after, effective_samples(evidence, 1), quantile, after);
	change->low = delta - hypot(change->after - after[0], before[1] - change->before);
	change->high = delta + hypot(after[1] - change->after, change->before - before[0]);
}

/* By whole samples, as many as would tell as much. */
static double exact_p(const struct evidence *evidence, const struct change *change, double *least)
{
	double counts[2] = {effective_samples(evidence, 0), effective_samples(evidence, 1)};
	u64 part[2] = {(u64)llround(change->before * counts[0]),
		       (u64)llround(change->after * counts[1])};
	u64 whole[2] = {(u64)llround(counts[0]), (u64)llround(counts[1])};

	return fisher_exact(part, whole, least);
}

static struct change test(const struct common *common, const struct significance_question *question)
{
	struct evidence evidence = weigh(common, question);
	double alpha = common->settings->alpha, least = 0, rarer, expected;
	struct change change = {
		.before = side_share(&evidence.sides[0]),
		.after = side_share(&evidence.sides[1]),
		.p = 1,
		.adjusted_p = 1,
		.verdict = TOO_FEW_SAMPLES,
	};

	change.low = change.high = change.after - change.before;
	rarer = fmin(evidence.share, 1 - evidence.share);
	if (!(rarer > 0) || !(evidence.variance[0] > 0) || !(evidence.variance[1] > 0))
		return change;
	find_interval(&evidence, alpha, &change);
	expected = rarer * fmin(effective_samples(&evidence, 0), effective_samples(&evidence, 1));
	if (expected < FEW_EXPECTED)
		change.p = exact_p(&evidence, &change, &least);
	else
		change.p = student_tail((change.after - change.before) /
						sqrt(evidence.variance[0] + evidence.variance[1]),
					evidence.freedom);
	if (least <= alpha)
		change.verdict = WITHIN_CHANCE;
	return change;
}

/* --- many functions --- */

static int compare_p(const void *left, const void *right)
{
	double a = (*(struct change *const *)left)->p, b = (*(struct change *const *)right)->p;

	return (a > b) - (a < b);
}

size_t significance_adjust(double alpha, struct change *changes, size_t count)
{
	struct change **tested = must_alloc_array(count, sizeof(struct change *));
	size_t tested_count = 0;
	double smallest = 1;

	for (size_t i = 0; i < count; i++)
		if (changes[i].verdict != TOO_FEW_SAMPLES)
			tested[tested_count++] = &changes[i];
	qsort(tested, tested_count, sizeof(struct change *), compare_p);
	for (size_t rank = tested_count; rank > 0; rank--) {
		struct change *change = tested[rank - 1];

		smallest = fmin(smallest, change->p * (double)tested_count / (double)rank);
		change->adjusted_p = smallest;
		change->verdict = smallest <= alpha ? BEYOND_CHANCE : WITHIN_CHANCE;
	}
	free(tested);
	return tested_count;
}

/* --- what all functions show --- */

/* Bursts, of all functions together. */
static double pool_dispersion(const struct significance_question *questions, size_t count)
{
	double sum = 0, pairs = 0;

	for (size_t i = 0; i < count; i++) {
		sum += questions[i].dispersion.factor * questions[i].dispersion.pairs;
		pairs += questions[i].dispersion.pairs;
	}
	return pairs > 0 ? fmax(1, sum / pairs) : 1;
}

/* By what share of its time a function varies from run to run, squared: of all functions
 * together. */
static double pool_run_spread(const struct common *common,
			      const struct significance_question *questions, size_t count)
{
	const struct significance_settings *settings = common->settings;
	double measured = 0, squares = 0;

	for (size_t i = 0; i < count; i++) {
		struct side all = sum_side(settings, questions[i].parts, 0, run_count(settings));
		double by_sample = sample_variance(&all) *
				   dispersion_of(common, questions[i].dispersion);
		double share = side_share(&all), binomial = share * (1 - share);

		measured += measured_spread(settings, questions[i].parts, by_sample);
		squares += binomial * binomial;
	}
	return squares > 0 ? fmax(0, measured / squares) : 0;
}

static bool is_comparable(const struct significance_settings *settings)
{
	bool is_comparable = settings->before_count && settings->after_count;

	for (u32 i = 0; i < run_count(settings); i++)
		is_comparable &= settings->totals[i].samples > 0 && settings->totals[i].weight > 0;
	return is_comparable;
}

size_t significance_judge(const struct significance_settings *settings,
			  const struct significance_question *questions, size_t count,
			  struct change *ret_changes)
{
	struct common common = {.settings = settings,
				.dispersion = pool_dispersion(questions, count)};

	if (!is_comparable(settings)) {
		for (size_t i = 0; i < count; i++)
			ret_changes[i] = (struct change){
				.p = 1, .adjusted_p = 1, .verdict = TOO_FEW_SAMPLES};
		return 0;
	}
	if (run_count(settings) > 2)
		common.run_spread = pool_run_spread(&common, questions, count);
	for (size_t i = 0; i < count; i++)
		ret_changes[i] = test(&common, &questions[i]);
	return significance_adjust(settings->alpha, ret_changes, count);
}

double significance_smallest(const struct significance_settings *settings, double share,
			     size_t tested)
{
	struct sampled *parts = must_alloc_array(run_count(settings), sizeof(*parts));
	struct significance_question question = {.parts = parts};
	struct common common = {.settings = settings, .dispersion = 1};
	struct evidence evidence;
	double threshold;

	for (u32 i = 0; i < run_count(settings); i++)
		parts[i] = (struct sampled){.weight = settings->totals[i].weight * share,
					    .samples = settings->totals[i].samples * share};
	evidence = weigh(&common, &question);
	free(parts);
	threshold = student_quantile(settings->alpha / (tested ? (double)tested : 1),
				     evidence.freedom);
	/* 0.84 standard deviations above it lie 80 of 100. */
	return (threshold + 0.8416) * sqrt(evidence.variance[0] + evidence.variance[1]);
}
