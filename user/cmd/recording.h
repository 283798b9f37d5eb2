/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One recording from its start to its end, and what is said about it. Private to this folder.
 */
#ifndef CMD_RECORDING_H
#define CMD_RECORDING_H

#include "cmd/record_plan.h"

struct live_stitching;

struct recording_result {
	struct capture_totals totals; /* what the disk did not take is counted as lost */
	u64 wall_ns;
	u64 cpu_ns;	  /* of this process, since it started; BPF is in `totals` */
	u64 start_cpu_ns; /* of that, until the first event could come */
	u64 file_bytes;
	int signal;	    /* that ended it; 0: none */
	bool has_command;   /* a command was run … */
	int command_status; /* … with this status, 128 + signal if one killed it */
	bool could_not_write;
	const struct live_stitching *stitching; /* of branch records; NULL: there is none */
};

/*
 * Plans and records.
 *
 * arguments   the command, if any
 * Returns 0; the exit status of a shell, already explained, if the command cannot be run; or a
 * negative errno with a sentence.
 */
int record(const struct record_settings *settings, struct arguments arguments,
	   struct recording_result *ret_result);

/*
 * Records as planned, until it is ended: by a signal, the duration, the end of the command or of
 * all that was profiled. Shows a status line meanwhile, unless the plan is quiet.
 * Returns 0, or a negative errno with a sentence: then nothing, or not all, was recorded.
 */
int recording_run(struct record_plan *plan, struct recording_result *ret_result);

/* Says on stderr what was recorded, lost and spent; all counters too if the plan is verbose. */
void recording_print_summary(const struct record_plan *plan, const struct recording_result *result);

/* Says one sentence on stderr, whatever bytes it holds, in place of the status line. */
void recording_say(const char *sentence);

/* The status line of a running recording; owned by the caller. */
char *recording_status(const struct recording_result *so_far);

#endif
