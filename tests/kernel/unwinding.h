/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the test of the unwinder's parts asks its programs.
 */
#ifndef TESTS_KERNEL_UNWINDING_H
#define TESTS_KERNEL_UNWINDING_H

#include "bpfprof/unwind_table.h"

enum { QUESTIONS_MAX = 4096 };

struct question {
	u64 asked;	/* a file offset or an address */
	u64 has_answer; /* else there is no rule or mapping */
	struct unwind_rule rule;
	u64 start, end;
	u64 inode, file_offset; /* of the code that is mapped there */
	u64 was_known;		/* the mapping had been learned for an earlier question */
};
WIRE_SIZE(struct question, 72);

#endif
