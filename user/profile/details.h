/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What else than stack and thread a sample says of itself, as rows of a profile.
 */
#ifndef PROFILE_DETAILS_H
#define PROFILE_DETAILS_H

#include "profile/locator.h"

/* A sample, and where it is counted: with the locator as of its time. */
struct counted_sample {
	const struct sample *sample;
	struct profile *profile;
	struct locator *locator;
};

struct detail_settings {
	u32 kept;	    /* 1 << enum sample_detail, or-ed; what is not kept makes fewer rows */
	u64 quantum_ns;	    /* of DETAIL_TIME; not 0 if that is kept */
	const s32 *sockets; /* by CPU; borrowed. CPUs behind them are of socket -1 */
	u32 socket_count;
	/* Fills in what only who reads the recording knows: DETAIL_COST to
	 * DETAIL_INSTRUCTION_CYCLES, DETAIL_DATA_SOURCE, DETAIL_PHYSICAL_ADDRESS and
	 * DETAIL_DATA_PAGE. */
	void (*read)(void *context, const struct sample *sample, struct detail_row *details);
	void *context;
	/* What a tracepoint says: DETAIL_TRACE; NULL: the sample is not of one. Borrowed until the
	 * next call. */
	const char *(*tell)(void *teller, const struct counted_sample *counted);
	void *teller;
};

/* The row of what a sample says of itself; the locator is as of its time. */
detail_id details_of(struct profile *profile, const struct detail_settings *settings,
		     struct locator *locator, const struct sample *sample);

/* Adds a cgroup's name to the profile. */
void details_add_cgroup(struct profile *profile, const struct cgroup_name *cgroup);

#endif
