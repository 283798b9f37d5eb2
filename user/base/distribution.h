/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Probabilities of the few distributions that tests of significance need.
 */
#ifndef BASE_DISTRIBUTION_H
#define BASE_DISTRIBUTION_H

#include "bpfprof/types.h"

/*
 * How likely Student's t with `freedom` degrees of freedom (above 0; infinite: the normal
 * distribution) is at least as far from 0 as `t`, on either side.
 * Source: NIST DLMF 8.17 (incomplete beta function), by its continued fraction 8.17.22.
 */
double student_tail(double t, double freedom);

/* The distance from 0 that Student's t exceeds, on either side, with this probability (above 0, at
 * most 1): the inverse of student_tail(). */
double student_quantile(double probability, double freedom);

/*
 * Fisher's exact test: `part` of `whole` on each of two sides, from one population. How likely are
 * tables that are at most as likely as this one?
 *
 * ret_least  the smallest answer that any table with the same sums could give; may be NULL
 * The sum of the parts should be small: it takes time in proportion.
 * Source: R. A. Fisher, "Statistical Methods for Research Workers", 1934, 21.02.
 */
double fisher_exact(const u64 part[2], const u64 whole[2], double *ret_least);

/* What chi-squared with one degree of freedom is on average, if the largest values are left out so
 * that this share (above 0, at most 1) is kept. */
double chi_squared_trimmed_mean(double kept);

#endif
