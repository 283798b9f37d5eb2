/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rules in the kernel's form (ORC) that are not the kernel's.
 */
#ifndef MADE_UP_RULES_H
#define MADE_UP_RULES_H

#include "bpfprof/types.h"

enum { MADE_UP_RULES = 8, ORC_BYTES = 6 };

struct made_up_rules {
	s32 addresses[MADE_UP_RULES];
	u8 entries[MADE_UP_RULES][ORC_BYTES];
};

#endif
