/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether a function's share of two recordings, or groups of recordings, differs by more than
 * chance.
 *
 * What is tested: the difference of the shares against the spread that it has if nothing changed.
 * That spread has two parts.
 *
 * Within a recording: of n samples, a share p comes out with variance p(1-p)/n if samples are
 * independent. They are not if functions run in bursts, so the variance is multiplied by how much
 * more than independent samples the counts of neighbouring slices of time differ, never by less
 * than 1: of the function, and as far as it has too few samples to tell, of all functions. The
 * largest of these differences are left out: a program that goes from one phase to the next does so
 * in each of its runs. Where samples count differently much (periods), what counts are the numbers
 * of samples.
 *
 * Between recordings: two runs of one program differ by more than their samples tell, as memory
 * lies elsewhere, caches and the machine are shared. Several recordings a side show how much: it is
 * the variance of their shares, less what their samples bring, of the function or, if that is
 * more, what all functions show together, with as many degrees of freedom as there are recordings
 * less two. One a side shows nothing of it, so it is assumed to be 1/20000 of p(1-p), in the
 * kernel, which works for everybody else too, 1/1000, with 8 degrees of freedom, as it is larger
 * for some functions; and where the recordings as a whole used different amounts of CPU time, as
 * much more as that says. These were measured on recordings of equal loads (tests/bench,
 * "false-alarms"). Several recordings are never taken to be more alike than that.
 *
 * The test is Student's t with Welch and Satterthwaite's degrees of freedom, or Fisher's exact test
 * where fewer than FEW_EXPECTED samples are expected. Of the functions that have enough samples to
 * be beyond chance at all, those are marked of which at most the share alpha is marked wrongly; if
 * nothing changed anywhere, the probability that anything is marked is at most alpha.
 *
 * Sources: Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", J. R. Stat. Soc. B 57
 * (1995). P. B. Gilbert, "A modified false discovery rate multiple-comparisons procedure for
 * discrete data", Appl. Stat. 54 (2005), for leaving out what cannot be beyond chance. B. L. Welch,
 * "The generalization of Student's problem", Biometrika 34 (1947); F. E. Satterthwaite, Biometrics
 * Bull. 2 (1946). E. B. Wilson, J. Am. Stat. Assoc. 22 (1927), and R. G. Newcombe, method 10,
 * Stat. Med. 17 (1998), for the interval. W. G. Cochran, Biometrics 10 (1954), for FEW_EXPECTED.
 */
#ifndef PROFILE_SIGNIFICANCE_H
#define PROFILE_SIGNIFICANCE_H

#include "profile/dispersion.h"

#include <stdbool.h>
#include <stddef.h>

enum significance_verdict {
	TOO_FEW_SAMPLES, /* nothing that they could show would be beyond chance */
	WITHIN_CHANCE,
	BEYOND_CHANCE,
};

/* What a recording counted in all, or of one function. */
struct sampled {
	double weight;	/* sum of periods */
	double samples; /* how many */
};

/* Two sides of one or more recordings; those of the first side stand in front. */
struct significance_settings {
	double alpha;		      /* of what is marked, this share may be wrong; 0 … 1 */
	const struct sampled *totals; /* by recording; borrowed */
	const double *seconds;	      /* how long each took; 0: unknown; borrowed */
	u32 before_count, after_count;
};

/* One function. */
struct significance_question {
	const struct sampled *parts; /* by recording; borrowed */
	struct dispersion_factor dispersion;
	bool is_kernel; /* it is code of the kernel */
};

struct change {
	double before, after; /* shares, 0 … 1 */
	double low, high;     /* after less before lies between them, at 1 - alpha */
	double p;	      /* how likely a difference like this is by chance */
	double adjusted_p;    /* the smallest alpha with which it is marked; 1: too few samples */
	u8 verdict;	      /* enum significance_verdict */
};

/*
 * Judges functions together.
 *
 * ret_changes  one for each question
 * Returns how many functions had enough samples to be beyond chance.
 */
size_t significance_judge(const struct significance_settings *settings,
			  const struct significance_question *questions, size_t count,
			  struct change *ret_changes);

/* The second half of it, alone: sets adjusted_p and the verdicts of changes whose p is known, but
 * for TOO_FEW_SAMPLES. Returns how many those are. */
size_t significance_adjust(double alpha, struct change *changes, size_t count);

/* The difference that would most likely (80 times of 100) have been marked of a function with this
 * share, had it been the only one among `tested` to change; in shares. */
double significance_smallest(const struct significance_settings *settings, double share,
			     size_t tested);

#endif
