/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a report must say about itself: samples, losses, cut stacks, frames without a name.
 */
#ifndef EXPORT_FOOTER_H
#define EXPORT_FOOTER_H

#include "base/json_writer.h"
#include "lbr/lbr.h"
#include "profile/profile.h"

#include <stdio.h>

struct report_facts {
	const struct profile *profile;
	const u64 *losses; /* by enum counter: what the recorder counted; NULL: not our recording */
	const struct lbr_tally *lbr; /* NULL: there are no LBR call stacks */
	bool lbr_is_stitched;	     /* else they are shown as they were recorded */
	size_t fetching;	     /* debug files that are being fetched, */
	size_t fetchable;	     /* or could be, if the client library were there */
	bool idle_skipped;	     /* the recording has no samples of the idle task */
};

/* Samples that were lost, whoever said so. */
u64 report_lost_samples(const struct report_facts *facts);

/* What kinds of branches were counted, as perf shows it, also where comments are not wanted;
 * nothing if no kind is known. */
void report_write_branches(const struct report_facts *facts, FILE *out);
/* The facts as comment lines, one each. */
void report_write_footer(const struct report_facts *facts, FILE *out);
/* The same as an object "recording". */
void report_write_footer_json(const struct report_facts *facts, struct json_writer *json);

#endif
