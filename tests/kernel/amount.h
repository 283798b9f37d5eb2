/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much a test waits for.
 */
#ifndef AMOUNT_H
#define AMOUNT_H

#include "bpfprof/types.h"

#include <stdlib.h>

/* What a machine of usual speed gets done or sampled in a test: `usual`, or as much less as
 * TEST_SLOWNESS says, under an emulated processor that nobody promises any time. */
static inline u32 amount(u32 usual)
{
	const char *slowness = getenv("TEST_SLOWNESS");

	return slowness ? usual / (u32)strtoul(slowness, NULL, 10) : usual;
}

#endif
