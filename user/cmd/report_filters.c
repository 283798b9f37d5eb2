/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The filters of report: lists of names, and of samples.
 */
#include "cmd/report_settings.h"

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>

enum { LIST_FILE_BYTES_MAX = 16 << 20 };

/* Names parted by any of `separators`, inside *text, which is written to. */
static void split_names(char *text, const char *separators, void *ret_names)
{
	VEC(const char *) *names = ret_names;
	char *name;

	while ((name = strsep(&text, separators)) != NULL)
		if (*name)
			*vec_add(names) = name;
}

/* "a,b", or file://PATH with one name a line. */
static int parse_names(const char *list, char **ret_text, void *ret_names)
{
	static const char file_prefix[] = "file://";
	size_t prefix = sizeof(file_prefix) - 1;
	int error;

	if (!list)
		return 0;
	if (strncmp(list, file_prefix, prefix) != 0) {
		*ret_text = must_copy(list);
		split_names(*ret_text, ",", ret_names);
		return 0;
	}
	error = file_read(list + prefix, LIST_FILE_BYTES_MAX, ret_text, NULL);
	if (error)
		return fail(error, "name a file with one name a line", "cannot read the list %s",
			    list + prefix);
	split_names(*ret_text, "\r\n", ret_names);
	return 0;
}

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
	error = parse_names(comms, &filters->texts[0], &filters->comms);
	if (!error)
		error = parse_names(settings->dsos, &filters->texts[1], &filters->dsos);
	if (!error)
		error = parse_names(settings->symbols, &filters->texts[2], &filters->symbols);
	return error ? error : sample_choice_read(&choice, first_ns, last_ns, &filters->samples);
}

void report_filters_release(struct report_filters *filters)
{
	for (size_t i = 0; i < ARRAY_COUNT(filters->texts); i++)
		free(filters->texts[i]);
	vec_release(&filters->comms);
	vec_release(&filters->dsos);
	vec_release(&filters->symbols);
	chosen_samples_release(&filters->samples);
	*filters = (struct report_filters){0};
}
