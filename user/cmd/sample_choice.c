/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --pid, --tid, --cpu, --time and the rest as lists.
 */
#include "cmd/sample_choice.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/vec.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

static int read_list(const char *what, const char *text, u32 **ret_ids, size_t *ret_count)
{
	enum { HIGHEST = 0x7fffffff };

	if (text && number_parse_list(text, HIGHEST, ret_ids, ret_count))
		return fail_plain(-EINVAL, "give numbers such as 1,3-5", "%s '%s' is not a list",
				  what, text);
	return 0;
}

typedef VEC(struct time_range) range_list;

/* When the recording began and ended, for parts of it. */
struct span {
	u64 first_ns, last_ns;
};

static u64 moment_at(struct span span, double percent)
{
	return span.first_ns +
	       (u64)(percent / 100.0 * (double)(span.last_ns - span.first_ns) + 0.5);
}

/* "10%-20%", or "10%/2": the second tenth; "10%" is the first.
 * Source: Linux 6.1, tools/perf/util/time-utils.c. */
static int read_part(char *item, struct span span, struct time_range *ret_range)
{
	char *behind = strpbrk(item, "-/");
	char sign = behind ? *behind : '/';
	double start = 0, end = 0;
	u32 slice = 1;

	if (behind)
		*behind++ = 0;
	if (number_parse_percent(item, &start))
		return -EINVAL;
	if (sign == '-' ? number_parse_percent(behind, &end)
			: behind && (number_parse_u32(behind, &slice) || !slice))
		return -EINVAL;
	if (sign == '/') {
		end = start * slice;
		start = start * (slice - 1);
	}
	if (start > end || end > 100)
		return -EINVAL;
	ret_range->start_ns = moment_at(span, start);
	ret_range->end_ns = moment_at(span, end);
	/* What comes behind begins there. */
	if (ret_range->end_ns > ret_range->start_ns && ret_range->end_ns != span.last_ns)
		ret_range->end_ns--;
	return 0;
}

/* "START,STOP", either may be empty; or one moment to the end. */
static int read_range(char *item, struct time_range *ret_range)
{
	struct time_range range = {.end_ns = UINT64_MAX};
	char *comma = strchr(item, ',');

	if (comma)
		*comma++ = 0;
	if (*item && number_parse_timestamp(item, &range.start_ns))
		return -EINVAL;
	if (comma && *comma && number_parse_timestamp(comma, &range.end_ns))
		return -EINVAL;
	if (range.start_ns > range.end_ns)
		return -EINVAL;
	*ret_range = range;
	return 0;
}

static int read_times(const char *text, struct span span, struct chosen_samples *chosen)
{
	CLEANUP(freep) char *copy = must_copy(text);
	bool is_parts = text && strchr(text, '%');
	char *next = copy, *item;
	range_list ranges = {0};
	int error = 0;

	if (is_parts && !span.last_ns)
		return fail_plain(-EINVAL, "give START,STOP in seconds",
				  "--time '%s': the recording does not say when it began and ended",
				  text);
	while (!error && next && (item = strsep(&next, is_parts ? ", " : " "))) {
		if (!*item)
			continue;
		error = is_parts ? read_part(item, span, vec_add(&ranges))
				 : read_range(item, vec_add(&ranges));
	}
	chosen->times = ranges.items;
	chosen->settings.time_count = ranges.count;
	if (error)
		return fail_plain(-EINVAL,
				  "give START,STOP in seconds, either may be left out, or parts of "
				  "the recording: 10%-20%, 10%/2 (the second tenth)",
				  "--time '%s' is not a range", text);
	return 0;
}

int sample_choice_read(const struct sample_choice *choice, u64 first_ns, u64 last_ns,
		       struct chosen_samples *ret_chosen)
{
	struct chosen_samples chosen = {0};
	struct filter_settings *settings = &chosen.settings;
	int error = read_list("--pid", choice->pids, &chosen.pids, &settings->pid_count);

	if (!error)
		error = read_list("--tid", choice->tids, &chosen.tids, &settings->tid_count);
	if (!error)
		error = read_list("--cpu", choice->cpus, &chosen.cpus, &settings->cpu_count);
	if (!error)
		error = read_times(choice->times, (struct span){first_ns, last_ns}, &chosen);
	if (error) {
		chosen_samples_release(&chosen);
		return error;
	}
	if (cgroup_choice_is_made(&choice->cgroups)) {
		chosen.cgroups = must_alloc(sizeof(*chosen.cgroups));
		*chosen.cgroups = choice->cgroups;
		settings->takes_cgroup = cgroup_choice_takes;
		settings->chosen_cgroups = chosen.cgroups;
	}
	settings->pids = chosen.pids;
	settings->tids = chosen.tids;
	settings->cpus = chosen.cpus;
	settings->times = chosen.times;
	*ret_chosen = chosen;
	return 0;
}

int sample_choice_check(const struct sample_choice *choice, const struct perfdata *data)
{
	u32 count;
	const struct event_source *sources = perfdata_sources(data, &count);

	if (!cgroup_choice_is_made(&choice->cgroups))
		return 0;
	for (u32 i = 0; i < count; i++)
		if (sources[i].sample_bits & PERF_SAMPLE_CGROUP)
			return 0;
	return fail_plain(-EINVAL, "record with --all-cgroups",
			  "samples of the recording do not say of which cgroup they are");
}

void chosen_samples_release(struct chosen_samples *chosen)
{
	free(chosen->pids);
	free(chosen->tids);
	free(chosen->cpus);
	free(chosen->times);
	free(chosen->cgroups);
	*chosen = (struct chosen_samples){0};
}
