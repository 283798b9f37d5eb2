/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is written to /dev/fake_lbr: one overflow of its PMU, with the branch stack that it brings.
 */
#ifndef TESTS_KERNELS_FAKE_LBR_H
#define TESTS_KERNELS_FAKE_LBR_H

#include <linux/types.h>

enum { FAKE_LBR_DEPTH = 32, FAKE_LBR_ENTRIES = 64 };

/* Bits of the event's config: what the PMU refuses to record. */
enum { FAKE_LBR_NO_INDEX = 1, FAKE_LBR_NO_SHORTER = 2, FAKE_LBR_NO_CALLS = 4 };

enum fake_lbr_trick {
	FAKE_LBR_PLAIN,
	FAKE_LBR_NULL,	 /* says that there is a stack, and points nowhere */
	FAKE_LBR_UNSAID, /* says that there is none; since Linux 6.1 the pointer is a stale one */
};

struct fake_lbr_overflow {
	__u64 trick; /* enum fake_lbr_trick */
	__u64 nr, hw_idx;
	struct {
		__u64 from, to, flags;
	} entries[FAKE_LBR_ENTRIES];
};

#endif
