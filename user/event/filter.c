/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Passes on the samples that are asked for, and every other event.
 */
#include "event/filter.h"

#include "base/idmap.h"
#include "base/memory.h"
#include "event/pass.h"

struct filter {
	struct passing_sink passing; /* first */
	struct filter_settings settings;
	struct idmap cgroups; /* id: enum cgroup_verdict */
};

enum cgroup_verdict { CGROUP_UNKNOWN, CGROUP_TAKEN, CGROUP_LEFT_OUT };

static bool is_listed(const u32 *ids, size_t count, u32 id)
{
	for (size_t i = 0; i < count; i++)
		if (ids[i] == id)
			return true;
	return count == 0;
}

static bool is_in_time(const struct filter_settings *settings, u64 time_ns)
{
	for (size_t i = 0; i < settings->time_count; i++)
		if (time_ns >= settings->times[i].start_ns && time_ns <= settings->times[i].end_ns)
			return true;
	return settings->time_count == 0;
}

static int pass_cgroup(struct event_sink *sink, const struct cgroup_name *cgroup)
{
	struct filter *filter = (struct filter *)sink;
	const struct filter_settings *settings = &filter->settings;

	*idmap_place(&filter->cgroups,
		     cgroup->id) = settings->takes_cgroup(settings->chosen_cgroups, cgroup->path)
					   ? CGROUP_TAKEN
					   : CGROUP_LEFT_OUT;
	return sink_call(filter->passing.next, on_cgroup, cgroup);
}

static bool is_in_cgroup(const struct filter *filter, u64 id)
{
	return !filter->settings.takes_cgroup ||
	       (id && idmap_get(&filter->cgroups, id) == CGROUP_TAKEN);
}

static int pass_sample(struct event_sink *sink, const struct sample *sample)
{
	const struct filter *filter = (struct filter *)sink;
	const struct filter_settings *settings = &filter->settings;

	if (!is_listed(settings->pids, settings->pid_count, sample->pid) ||
	    !is_listed(settings->tids, settings->tid_count, sample->tid) ||
	    !is_listed(settings->cpus, settings->cpu_count, sample->cpu) ||
	    !is_in_time(settings, sample->time_ns) || !is_in_cgroup(filter, sample->cgroup))
		return 0;
	return sink_call(filter->passing.next, on_sample, sample);
}

/* Asked of what is not passed on, too: the answer does not matter then. */
static bool next_knows_chain(struct event_sink *sink, const struct sample *sample)
{
	return sink_call(((struct filter *)sink)->passing.next, knows_chain, sample);
}

static int pass_chain_ahead(struct event_sink *sink, u64 chain_key)
{
	return sink_call(((struct filter *)sink)->passing.next, on_chain_ahead, chain_key);
}

struct event_sink *filter_new(const struct filter_settings *settings, struct event_sink *next)
{
	struct filter *filter = must_alloc(sizeof(*filter));

	passing_sink_init(&filter->passing, next);
	filter->passing.sink.on_sample = pass_sample;
	filter->passing.sink.knows_chain = next_knows_chain;
	filter->passing.sink.on_chain_ahead = pass_chain_ahead;
	if (settings->takes_cgroup)
		filter->passing.sink.on_cgroup = pass_cgroup;
	filter->settings = *settings;
	return &filter->passing.sink;
}

void filter_free(struct event_sink *filter)
{
	if (filter)
		idmap_release(&((struct filter *)filter)->cgroups);
	free(filter);
}
