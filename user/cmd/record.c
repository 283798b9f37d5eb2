/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * record: the kernel's samples into a perf.data.
 */
#include "base/fail.h"
#include "base/memory.h"
#include "cmd/cmd.h"
#include "cmd/recording.h"

#include <errno.h>
#include <string.h>

int record(const struct record_settings *settings, struct arguments arguments,
	   struct recording_result *ret_result)
{
	CLEANUP(record_plan_release) struct record_plan plan = {0};
	int error = record_plan_make(settings, arguments, &plan);

	if (!error)
		error = recording_run(&plan, ret_result);
	if (error && plan.command_error) {
		/* A shell's statuses for a command that cannot be run, which main.c does not know.
		 */
		recording_say(fail_sentence());
		return plan.command_error;
	}
	return error;
}

static int record_run(const void *settings, struct arguments arguments)
{
	struct recording_result result = {0};
	int status = record(settings, arguments, &result);

	if (status)
		return status;
	if (result.could_not_write)
		return STATUS_COULD_NOT;
	if (result.signal)
		return 128 + result.signal;
	return result.has_command ? result.command_status : STATUS_DONE;
}

const struct command command_record = {
	.name = "record",
	.summary = "record a profile into perf.data",
	.synopsis = "[options] [[--] command [args]]",
	.examples =
		"sudo bpfprof record -a -F 99 --duration 10\tThis machine, for ten seconds\n"
		"sudo bpfprof record -p 1234 -e page-faults -c 1\tEvery page fault of a process\n"
		"sudo bpfprof record -F 999 -- make -j8\tA command, from its first instruction\n"
		"sudo bpfprof record -a -o - | bpfprof report -i -\tThrough a pipe\n",
	.options = record_options,
	.next = &command_report,
	.settings_bytes = sizeof(struct record_settings),
	.defaults = &record_defaults,
	.stop_at_argument = true,
	.stays = true,
	.run = record_run,
};
