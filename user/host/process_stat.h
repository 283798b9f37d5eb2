/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The text of /proc/PID/stat.
 */
#ifndef HOST_PROCESS_STAT_H
#define HOST_PROCESS_STAT_H

#include "bpfprof/types.h"

struct process_stat {
	const char *name; /* points into the text */
	char state;	  /* R, S, D, Z … */
	u32 parent;	  /* pid; 0: none */
	u32 threads;	  /* of the process */
};

/* Takes the text apart, and ends the name in it with a NUL. Pure. Returns 0 or -EBADMSG. */
int process_stat_parse(char *text, struct process_stat *ret_stat);

#endif
