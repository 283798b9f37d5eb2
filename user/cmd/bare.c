/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What bpfprof does without a command's name: records, and prints the report of what it recorded.
 */
#include "base/fail.h"
#include "base/memory.h"
#include "cmd/cmd.h"
#include "cmd/recording.h"

#include <errno.h>
#include <string.h>

static int run_report(const char *path)
{
	CLEANUP(freep) void *settings = must_alloc(command_report.settings_bytes);
	CLEANUP(freep) char *copy = must_copy(path);
	char option[] = "-i";
	char *words[] = {option, copy, NULL};
	struct arguments left;
	int status = options_parse(&command_report, 2, words, settings, &left);

	if (status)
		return status;
	status = command_report.run(settings, left);
	options_release(&command_report, settings, &left);
	return status;
}

static int bare_run(const void *all_settings, struct arguments arguments)
{
	const struct record_settings *settings = all_settings;
	struct recording_result result = {0};
	int status;

	if (!strcmp(settings->output, "-"))
		return fail_plain(-EINVAL, "use bpfprof record -o - | bpfprof report -i -",
				  "a stream cannot be reported when it is gone");
	status = record(settings, arguments, &result);
	if (status)
		return status;
	/* That there are none, and why, was said at the end of the recording. */
	if (result.totals.counters[COUNTER_samples_sent] +
	    result.totals.counters[COUNTER_samples_counted])
		status = run_report(settings->output);
	if (status)
		return status;
	if (result.could_not_write)
		return STATUS_COULD_NOT;
	return result.has_command ? result.command_status : STATUS_DONE;
}

const struct command command_bare = {
	.name = "",
	.summary = "record, then print the report",
	.synopsis = "[options] [-- command [args]]",
	.examples = "sudo bpfprof\tThis machine, until Ctrl-C\n"
		    "sudo bpfprof -a -F 99 --duration 10\tThis machine, for ten seconds\n"
		    "sudo bpfprof -- make -j8\tA command\n",
	.options = record_options,
	.next = &command_report,
	.settings_bytes = sizeof(struct record_settings),
	.defaults = &record_defaults,
	.stop_at_argument = true,
	.stays = true,
	.run = bare_run,
};
