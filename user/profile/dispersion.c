/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Neighbouring slices, held against what they would be by chance.
 *
 * Each pair of slices is tested for itself, so that what a program does first and what it does last
 * need not be alike.
 */
#include "profile/dispersion.h"

#include "base/distribution.h"

enum {
	LEAST_SQUARES = 3,     /* pairs of slices; fewer say nothing */
	LEAST_PAIR = 2,	       /* samples in a pair of slices */
	TRIMMED_FRACTION = 10, /* one pair of so many is left out, … */
	LEAST_TRIMMED = 2,     /* … but of many at least so many … */
	LEAST_OF_MANY = 8,     /* … and of fewer than this, one */
};

void dispersion_add(struct dispersion *dispersion, const u32 *part, const u32 *whole, u32 count)
{
	for (u32 i = 0; i + 1 < count; i += 2) {
		double both = (double)part[i] + part[i + 1];
		double all = (double)whole[i] + whole[i + 1];
		double share = both / all, difference;

		if (both < LEAST_PAIR || both >= all || !whole[i] || !whole[i + 1])
			continue;
		difference = (double)part[i] / whole[i] - (double)part[i + 1] / whole[i + 1];
		*vec_add(&dispersion->squares) = difference * difference /
						 (share * (1 - share) *
						  (1.0 / whole[i] + 1.0 / whole[i + 1]));
	}
}

static int compare_squares(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

struct dispersion_factor dispersion_factor(struct dispersion *dispersion)
{
	size_t count = dispersion->squares.count;
	size_t trimmed = count / TRIMMED_FRACTION, kept;
	size_t least = count < LEAST_OF_MANY ? 1 : LEAST_TRIMMED;
	double sum = 0;

	if (count < LEAST_SQUARES)
		return (struct dispersion_factor){0};
	kept = count - (trimmed < least ? least : trimmed);
	qsort(dispersion->squares.items, count, sizeof(double), compare_squares);
	for (size_t i = 0; i < kept; i++)
		sum += dispersion->squares.items[i];
	return (struct dispersion_factor){
		.factor = sum / (double)kept /
			  chi_squared_trimmed_mean((double)kept / (double)count),
		.pairs = (u32)count,
	};
}

void dispersion_release(struct dispersion *dispersion)
{
	vec_release(&dispersion->squares);
}
