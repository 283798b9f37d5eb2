/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a report is of: a recording, or windows of a store.
 */
#include "base/clock.h"
#include "base/fail.h"
#include "cmd/input.h"
#include "cmd/kernel_files.h"
#include "cmd/report_state.h"
#include "cmd/windows_read.h"

#include <errno.h>

/* Finds the windows that are asked for. */
static int choose_windows(struct report *report, struct arguments arguments)
{
	const struct report_settings *settings = report->settings;
	int error = input_refuse_recording(settings->input, arguments, settings->choice.times);

	if (error)
		return error;
	if (settings->dumps || settings->records)
		return fail_plain(-EINVAL, "name one window with -i (bpfprof list --json)",
				  "records are shown of one recording");
	report->now_ns = clock_ns(CLOCK_REALTIME);
	return asked_windows_find(&settings->windows, report->now_ns, &report->windows);
}

int report_choose_input(struct report *report, struct arguments arguments, const char **ret_path)
{
	int error = kernel_files_check(&report->settings->symbolize);

	if (error)
		return error;
	if (window_choice_is_made(&report->settings->windows))
		return choose_windows(report, arguments);
	return input_choose(report->settings->input, arguments, ret_path);
}

int report_open(struct report *report, const char **path)
{
	bool has_counters = report->settings->has_counters;

	if (report->windows.windows.count)
		return windows_open_first(&report->windows,
					  has_counters ? perfdata_open_listed
						       : perfdata_open_window,
					  &report->data, path);
	return has_counters ? perfdata_open_listed(*path, &report->data)
			    : perfdata_open(*path, &report->data);
}
