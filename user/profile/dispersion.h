/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether the samples of a function come one by one or in bursts: by the counts of neighbouring
 * slices of time.
 *
 * Of samples in bursts there are fewer to tell by than were counted. A program that goes from one
 * phase to the next has no bursts: the largest differences are left out.
 */
#ifndef PROFILE_DISPERSION_H
#define PROFILE_DISPERSION_H

#include "base/vec.h"
#include "bpfprof/types.h"

/* By how much the variance of a function's samples is larger than of independent ones. */
struct dispersion_factor {
	double factor;
	u32 pairs; /* of slices that tell it; 0: nothing does */
};

/* How a function's samples spread over time; zeroed it is empty. */
struct dispersion {
	VEC(double) squares; /* chi-squared of two neighbouring slices each */
};

/* Adds a recording that was cut into `count` slices of equal length: samples of the function and of
 * everything in each. */
void dispersion_add(struct dispersion *dispersion, const u32 *part, const u32 *whole, u32 count);
/* What was added says so much; it is sorted meanwhile. */
struct dispersion_factor dispersion_factor(struct dispersion *dispersion);
/* Frees; it is empty again. */
void dispersion_release(struct dispersion *dispersion);

#endif
