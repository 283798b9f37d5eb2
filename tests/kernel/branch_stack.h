/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the test of branch stacks puts in front of the programs' snapshot.
 */
#ifndef TESTS_KERNEL_BRANCH_STACK_H
#define TESTS_KERNEL_BRANCH_STACK_H

#include "bpfprof/event.h"

enum { SCRIPTS_MAX = 1024, SCRIPT_ENTRIES = 40 };

/* Odd things that the kernel could do, or does. */
enum script_trick {
	TRICK_NONE,
	TRICK_NULL,    /* says that there is a stack, and points nowhere */
	TRICK_UNSAID,  /* points to a stack, and does not say that there is one (stale) */
	TRICK_INVALID, /* points to where no memory is */
};

struct script_entry {
	u64 from, to, flags;
};

/* A sample: what the kernel is made to hold. */
struct script {
	struct sample_header header; /* as it is before the branch stack is taken */
	u64 trick;		     /* enum script_trick */
	u64 frames[8];		     /* as many as the header says */
	u64 nr, hw_idx;
	struct script_entry entries[SCRIPT_ENTRIES];
};
WIRE_SIZE(struct script, 56 + 8 + 64 + 16 + SCRIPT_ENTRIES * 24);

#endif
