/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What changed between recordings: the lines of one event of several recordings side by side,
 * paired by what their keys read (functions by name, so that builds may differ).
 *
 * A run is one recording. Runs of the same program may share a side: its figures are their sums.
 * Side 0 is the baseline.
 */
#ifndef PROFILE_COMPARISON_H
#define PROFILE_COMPARISON_H

#include "profile/entry_list.h"

enum comparison_method {
	COMPARE_DELTA_ABS, /* difference of shares, largest first whichever its sign */
	COMPARE_DELTA,	   /* the same, by sign */
	COMPARE_RATIO,	   /* of periods */
	COMPARE_WEIGHTED,  /* difference of weighted periods */
	COMPARE_CYCLES,	   /* of blocks of code, see block_changes.h; lines are by the baseline */
};

enum { NO_SOURCE = UINT32_MAX };

struct comparison_run {
	u32 source; /* row of the profile's sources; NO_SOURCE: it has no such event */
	u32 side;
};

struct comparison_settings {
	struct entry_list_settings list;   /* its `source` is not looked at */
	const struct comparison_run *runs; /* sides ascending; copied */
	u32 run_count, side_count;
	enum comparison_method method;
	s64 base_weight, other_weight; /* of COMPARE_WEIGHTED */
	u32 order;		       /* the side whose value decides first; 0: the baseline */
	/* Seconds that each side's runs took: amounts are then rates, periods a second. NULL:
	 * amounts are shares in per cent. Borrowed. */
	const double *side_seconds;
	bool paired_only; /* leave out what is not in the baseline and another side */
	/* As perf 6.1: addresses without a name are one line for each binary, a line is filtered
	 * out by its first sample, and with `paired_only` the baseline's shares are of what is
	 * left. */
	bool is_strict;
};

/* What a line used on one side, or in one run. */
struct compared_value {
	u64 period, samples; /* with what it called, if the lists have children */
	bool is_there;
};

struct compared_entry {
	u32 run, entry; /* the first run that has it, and its row in that run's list */
	u32 moved_to;	/* the entry, numbered from 1, that it is now; 0: it did not move */
	bool is_lumped; /* all of a binary's code without names, since its builds differ */
	bool is_joined; /* it is one that another one moved to, and counted there */
	bool is_hidden; /* the filters leave it out (only if is_strict) */
};

struct comparison {
	const struct fold *fold;
	struct comparison_settings settings;
	struct comparison_run *runs; /* what settings.runs is */
	struct entry_list **lists;   /* by run; NULL: it has no such event */
	u32 **entry_of;		     /* by run, by entry of its list: row of `entries` */
	VEC(struct compared_entry) entries;
	struct compared_value *run_values, *side_values; /* by entry, by run or side */
	struct compared_value *run_totals, *side_totals; /* what is 100% */
	u64 base_total; /* 100% of the baseline's own column, see is_strict */
	/* private: the first binary row of the same build, and by short name the only one or ~0u */
	binary_id *builds;
	struct idmap build_of_name;
	u32 *sorted; /* sorted_count rows of `entries`: what is shown, in order */
	size_t sorted_count;
};

/* Compares one event. The fold and what the settings borrow must outlive it. */
struct comparison *comparison_new(const struct fold *fold,
				  const struct comparison_settings *settings);
/* Frees; NULL is fine. */
void comparison_free(struct comparison *comparison);
/* For CLEANUP. */
void comparison_freep(struct comparison **comparison);

/* What entry `entry` used on a side. */
static inline const struct compared_value *comparison_value(const struct comparison *comparison,
							    u32 entry, u32 side)
{
	return &comparison->side_values[(size_t)entry * comparison->settings.side_count + side];
}

/* What it used in a run. */
static inline const struct compared_value *comparison_run_value(const struct comparison *comparison,
								u32 entry, u32 run)
{
	return &comparison->run_values[(size_t)entry * comparison->settings.run_count + run];
}

/* The entry of the first run that has it, and the list it is in: what the keys show. */
const struct entry *comparison_shown(const struct comparison *comparison, u32 entry,
				     const struct entry_list **ret_list);

/* Whether there is anything to compare on a side: it has the entry, or (unless is_strict) only the
 * baseline has, and it is 0 there. */
bool comparison_has_figure(const struct comparison *comparison, u32 entry, u32 side);
/* Share of a side in per cent, or its rate; 0 of nothing is not a number. */
double comparison_amount(const struct comparison *comparison, u32 entry, u32 side);
/* That of the baseline as its column shows it. */
double comparison_base_amount(const struct comparison *comparison, u32 entry);
/* By how much a side's amount is above the baseline's. */
double comparison_delta(const struct comparison *comparison, u32 entry, u32 side);
/* How often the baseline's period (or rate) goes into a side's; of nothing: that of one event. */
double comparison_ratio(const struct comparison *comparison, u32 entry, u32 side);
/* A side's period by its weight, less the baseline's by its own. */
s64 comparison_weighted(const struct comparison *comparison, u32 entry, u32 side);

#endif
