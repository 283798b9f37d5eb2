/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --pid, --tid, --cpu and --time as lists.
 */
#include "cmd/sample_choice.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/vec.h"

#include <errno.h>
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

/* The time range of the recording, for shares of it. */
struct span {
	u64 first_ns, last_ns;
};

static u64 share_of(struct span span, double percent)
{
	return span.first_ns + (u64)((double)(span.last_ns - span.first_ns) * percent / 100.0);
}

/* "10%-20%". */
static int read_share(char *item, struct span span, struct time_range *ret_range)
{
	char *dash = strchr(item, '-');
	double start, end;

	if (!dash)
		return -EINVAL;
	*dash = 0;
	if (number_parse_percent(item, &start) || number_parse_percent(dash + 1, &end) ||
	    start > end)
		return -EINVAL;
	*ret_range = (struct time_range){share_of(span, start), share_of(span, end)};
	return 0;
}

/* "10%/2": the second tenth. */
static int read_slice(char *item, struct span span, struct time_range *ret_range)
{
	char *slash = strchr(item, '/');
	double percent;
	u32 slice;

	*slash = 0;
	if (number_parse_percent(item, &percent) || number_parse_u32(slash + 1, &slice) || !slice ||
	    percent * slice > 100.0)
		return -EINVAL;
	*ret_range = (struct time_range){share_of(span, percent * (slice - 1)),
					 share_of(span, percent * slice)};
	return 0;
}

static int read_shares(char *text, struct span span, range_list *ranges)
{
	char *next = text, *item;
	int error = 0;

	while (!error && (item = strsep(&next, ",")))
		error = (strchr(item, '/') ? read_slice : read_share)(item, span, vec_add(ranges));
	/* neighbours share a moment: it belongs to the earlier one */
	for (size_t i = 1; !error && i < ranges->count; i++)
		if (ranges->items[i].start_ns == ranges->items[i - 1].end_ns)
			ranges->items[i].start_ns++;
	return error;
}

/* "START,STOP", either may be empty; or one moment to the end. */
static int read_range(char *item, struct time_range *ret_range)
{
	struct time_range range = {.end_ns = UINT64_MAX};
	char *comma = strchr(item, ',');

	if (comma)
		*comma = 0;
	if (*item && number_parse_timestamp(item, &range.start_ns))
		return -EINVAL;
	if (comma && comma[1] && number_parse_timestamp(comma + 1, &range.end_ns))
		return -EINVAL;
	if (range.start_ns > range.end_ns)
		return -EINVAL;
	*ret_range = range;
	return 0;
}

static int read_ranges(char *text, range_list *ranges)
{
	char *next = text, *item;
	int error = 0;

	while (!error && (item = strsep(&next, " ")))
		if (*item)
			error = read_range(item, vec_add(ranges));
	return error;
}

static int read_times(const char *text, const struct perfdata_header *header,
		      struct chosen_samples *chosen)
{
	CLEANUP(freep) char *copy = must_copy(text);
	struct span span = {header->first_sample_ns, header->last_sample_ns};
	range_list ranges = {0};
	int error;

	if (!text)
		return 0;
	if (strchr(text, '%') && !span.last_ns)
		return fail_plain(-EINVAL, "give seconds",
				  "the recording does not say when its "
				  "first and last samples were taken");
	error = strchr(text, '%') ? read_shares(copy, span, &ranges) : read_ranges(copy, &ranges);
	chosen->times = ranges.items;
	chosen->settings.time_count = ranges.count;
	if (error)
		return fail_plain(-EINVAL, "give START,STOP in seconds, 10%-20% or 10%/2",
				  "--time '%s' is not a range", text);
	return 0;
}

int sample_choice_read(const struct sample_choice *choice, const struct perfdata *data,
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
		error = read_times(choice->times, perfdata_header(data), &chosen);
	if (error) {
		chosen_samples_release(&chosen);
		return error;
	}
	settings->pids = chosen.pids;
	settings->tids = chosen.tids;
	settings->cpus = chosen.cpus;
	settings->times = chosen.times;
	*ret_chosen = chosen;
	return 0;
}

void chosen_samples_release(struct chosen_samples *chosen)
{
	free(chosen->pids);
	free(chosen->tids);
	free(chosen->cpus);
	free(chosen->times);
	*chosen = (struct chosen_samples){0};
}
