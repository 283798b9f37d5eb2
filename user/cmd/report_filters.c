/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The filters of report: lists of names, ids and times.
 */
#include "cmd/report_settings.h"

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"

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
		return fail(error, NULL, "cannot read the list %s", list + prefix);
	split_names(*ret_text, "\r\n", ret_names);
	return 0;
}

static int parse_ids(const char *option, const char *list, u32 **ret_ids, size_t *ret_count)
{
	int error = list ? number_parse_list(list, INT32_MAX, ret_ids, ret_count) : 0;

	if (error)
		return fail_plain(-EINVAL, NULL, "%s %s: not a list of numbers like 1,4-7", option,
				  list);
	return 0;
}

/* -C takes CPUs as in perf report, or names of threads as in perf diff. */
static bool is_cpu_list(const char *list)
{
	return list[strspn(list, "0123456789,-")] == 0;
}

/* --- times --- */

static int refuse_time(const char *text)
{
	return fail_plain(-EINVAL,
			  "give START,STOP in seconds, either may be left out, or parts of the "
			  "recording: 10%-20%, 10%/2 (the second tenth)",
			  "--time %s: not understood", text);
}

static u64 part_of(double percent, u64 first_ns, u64 last_ns)
{
	return first_ns + (u64)(percent / 100.0 * (double)(last_ns - first_ns) + 0.5);
}

/* "10%-20%" or "10%/2". Source: Linux 6.1, tools/perf/util/time-utils.c. */
static int parse_part(const char *text, u64 first_ns, u64 last_ns, struct time_range *ret_range)
{
	double start, end;
	unsigned int slice;
	int used = 0;

	if (sscanf(text, "%lf%%-%lf%%%n", &start, &end, &used) == 2 && used && !text[used]) {
		/* as they are */
	} else if (sscanf(text, "%lf%%/%u%n", &start, &slice, &used) == 2 && used && !text[used] &&
		   slice > 0) {
		end = start * slice;
		start = start * (slice - 1);
	} else {
		return -EINVAL;
	}
	if (!(start >= 0 && end <= 100 && start <= end))
		return -EINVAL;
	ret_range->start_ns = part_of(start, first_ns, last_ns);
	ret_range->end_ns = part_of(end, first_ns, last_ns);
	if (ret_range->end_ns > ret_range->start_ns && ret_range->end_ns != last_ns)
		ret_range->end_ns--;
	return 0;
}

/* "START,STOP" in seconds. */
static int parse_span(char *text, struct time_range *ret_range)
{
	struct time_range range = {.end_ns = UINT64_MAX};
	char *stop = strchr(text, ',');

	if (stop)
		*stop++ = 0;
	if (*text && number_parse_timestamp(text, &range.start_ns))
		return -EINVAL;
	if (stop && *stop && number_parse_timestamp(stop, &range.end_ns))
		return -EINVAL;
	if (range.end_ns < range.start_ns)
		return -EINVAL;
	*ret_range = range;
	return 0;
}

static int parse_times(const char *times, u64 first_ns, u64 last_ns, struct report_filters *filters)
{
	CLEANUP(freep) char *copy = must_copy(times);
	bool is_parts = times && strchr(times, '%');
	char *rest = copy, *text;

	if (is_parts && !last_ns)
		return fail_plain(-EINVAL, "give START,STOP in seconds",
				  "--time %s: the recording does not say when it began and ended",
				  times);
	while (rest && (text = strsep(&rest, is_parts ? ", " : " ")) != NULL) {
		struct time_range range;

		if (!*text)
			continue;
		if (is_parts ? parse_part(text, first_ns, last_ns, &range)
			     : parse_span(text, &range))
			return refuse_time(times);
		*vec_add(&filters->times) = range;
	}
	return 0;
}

int report_filters_parse(const struct report_settings *settings, u64 first_ns, u64 last_ns,
			 struct report_filters *ret_filters)
{
	struct report_filters *filters = ret_filters;
	bool has_cpus = settings->cpus && is_cpu_list(settings->cpus);
	const char *comms = settings->cpus && !has_cpus && !settings->comms ? settings->cpus
									    : settings->comms;
	int error;

	*filters = (struct report_filters){0};
	error = parse_names(comms, &filters->texts[0], &filters->comms);
	if (!error)
		error = parse_names(settings->dsos, &filters->texts[1], &filters->dsos);
	if (!error)
		error = parse_names(settings->symbols, &filters->texts[2], &filters->symbols);
	if (!error)
		error = parse_ids("--pid", settings->pids, &filters->pids, &filters->pid_count);
	if (!error)
		error = parse_ids("--tid", settings->tids, &filters->tids, &filters->tid_count);
	if (!error && has_cpus)
		error = parse_ids("-C", settings->cpus, &filters->cpus, &filters->cpu_count);
	if (!error)
		error = parse_times(settings->times, first_ns, last_ns, filters);
	return error;
}

void report_filters_release(struct report_filters *filters)
{
	for (size_t i = 0; i < ARRAY_COUNT(filters->texts); i++)
		free(filters->texts[i]);
	vec_release(&filters->comms);
	vec_release(&filters->dsos);
	vec_release(&filters->symbols);
	vec_release(&filters->times);
	free(filters->pids);
	free(filters->tids);
	free(filters->cpus);
	*filters = (struct report_filters){0};
}
