/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The filters of report: lists of names, and of samples.
 */
#include "cmd/report_settings.h"

#include <string.h>

/* -C takes CPUs as in perf report, or names of threads as in perf diff. */
static bool is_cpu_list(const char *list)
{
	return list[strspn(list, "0123456789,-")] == 0;
}

int report_filters_parse(const struct report_settings *settings, u64 first_ns, u64 last_ns,
			 struct report_filters *ret_filters)
{
	struct report_filters *filters = ret_filters;
	struct sample_choice choice = settings->choice;
	const char *comms = settings->comms;
	int error;

	if (choice.cpus && !is_cpu_list(choice.cpus)) {
		comms = comms ? comms : choice.cpus;
		choice.cpus = NULL;
	}
	*filters = (struct report_filters){0};
	error = name_list_read(comms, &filters->comms);
	if (!error)
		error = name_list_read(settings->dsos, &filters->dsos);
	if (!error)
		error = name_list_read(settings->symbols, &filters->symbols);
	return error ? error : sample_choice_read(&choice, first_ns, last_ns, &filters->samples);
}

void report_filters_release(struct report_filters *filters)
{
	name_list_release(&filters->comms);
	name_list_release(&filters->dsos);
	name_list_release(&filters->symbols);
	chosen_samples_release(&filters->samples);
	*filters = (struct report_filters){0};
}
