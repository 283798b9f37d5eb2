/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the programs that count scripted samples share with their test.
 */
#ifndef TESTS_KERNEL_AGGREGATING_H
#define TESTS_KERNEL_AGGREGATING_H

#include "bpfprof/event.h"

enum { SCRIPTED_MAX = 256, SCRIPTED_FRAMES = 40 };

struct scripted_sample {
	struct sample_header header;
	u64 context; /* see struct chain_part */
	u64 frames[SCRIPTED_FRAMES];
};

#endif
