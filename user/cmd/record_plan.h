/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What will be recorded: what was typed, checked against this machine. Private to this folder.
 */
#ifndef CMD_RECORD_PLAN_H
#define CMD_RECORD_PLAN_H

#include "base/vec.h"
#include "cmd/record_settings.h"

struct record_plan {
	const struct record_settings *settings; /* borrowed */
	struct capture_settings capture;	/* its arrays are those below */
	struct parsed_event *events;
	size_t event_count;
	u32 *cpus, *pids, *tids;
	char **command;	     /* argv, ends with NULL; NULL: none */
	VEC(char *) remarks; /* what the person should know before it starts, a sentence each */
	u32 frequency_hz;    /* 0: by period */
	int command_error;   /* 127: the command was not found, 126: it cannot be run; else 0 */
};

/*
 * Checks and completes what was typed.
 *
 * arguments  the command, if any; borrowed
 * ret_plan   record_plan_release() it, also after an error
 * Returns 0 or a negative errno with a sentence (-EINVAL: it can never work).
 */
int record_plan_make(const struct record_settings *settings, struct arguments arguments,
		     struct record_plan *ret_plan);
/* Frees what the plan owns. */
void record_plan_release(struct record_plan *plan);

#endif
