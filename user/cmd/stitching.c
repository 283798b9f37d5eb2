/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Puts the stitcher between a recording and whoever reads it.
 */
#include "cmd/stitching.h"

#include "base/fail.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int stitching_parse(const char *argument, u8 *ret_tier)
{
	static const struct {
		const char *name;
		u8 tier;
	} tiers[] = {{"certain", LBR_CERTAIN}, {"likely", LBR_LIKELY}};

	for (size_t i = 0; i < ARRAY_COUNT(tiers); i++) {
		if (argument && strcmp(argument, tiers[i].name) != 0)
			continue;
		*ret_tier = tiers[i].tier;
		return 0;
	}
	return fail_plain(-EINVAL, NULL, "give certain or likely");
}

bool stitching_is_possible(const struct perfdata *data)
{
	u32 count;
	const struct event_source *sources = perfdata_sources(data, &count);

	for (u32 i = 0; i < count; i++)
		if (lbr_is_recorded(&sources[i]))
			return true;
	return false;
}

void stitching_warn(const struct perfdata *data, u8 tier)
{
	if (tier != LBR_PLAIN && !stitching_is_possible(data))
		fputs("bpfprof: there are no LBR call stacks to stitch; record with --call-graph "
		      "lbr\n",
		      stderr);
}

int stitching_read(struct perfdata *data, const struct lbr_settings *settings,
		   struct event_sink *sink, struct lbr_tally *ret_tally)
{
	CLEANUP(lbr_stitcher_freep) struct lbr_stitcher *stitcher = NULL;
	struct lbr_settings wanted = *settings;
	struct event_sink *learning;
	u32 count;
	const struct event_source *sources = perfdata_sources(data, &count);
	int error = 0;

	if (!stitching_is_possible(data))
		return perfdata_read(data, sink);
	wanted.depth = perfdata_header(data)->branch_depth;
	stitcher = lbr_stitcher_new(&wanted, sink);
	lbr_stitcher_set_sources(stitcher, sources, count);
	learning = lbr_stitcher_learning_sink(stitcher);
	if (wanted.tier != LBR_PLAIN && learning->on_sample)
		error = perfdata_read(data, learning);
	/* What is wrong with the file is said the second time. */
	if (!error || error == -EBADMSG)
		error = perfdata_read(data, lbr_stitcher_sink(stitcher));
	*ret_tally = *lbr_stitcher_tally(stitcher);
	return error;
}
