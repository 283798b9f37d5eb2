/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Passes on the samples that are asked for, and every other event.
 */
#include "event/filter.h"

#include "base/memory.h"

struct filter {
	struct event_sink sink;
	struct filter_settings settings;
	struct event_sink *next;
};

static struct filter *filter_of(struct event_sink *sink)
{
	return (struct filter *)sink; /* the sink is its first member */
}

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

static int pass_sample(struct event_sink *sink, const struct sample *sample)
{
	const struct filter *filter = filter_of(sink);
	const struct filter_settings *settings = &filter->settings;

	if (!is_listed(settings->pids, settings->pid_count, sample->pid) ||
	    !is_listed(settings->tids, settings->tid_count, sample->tid) ||
	    !is_listed(settings->cpus, settings->cpu_count, sample->cpu) ||
	    !is_in_time(settings, sample->time_ns))
		return 0;
	return sink_call(filter->next, on_sample, sample);
}

#define PASS(member, type)                                                   \
	static int pass_##member(struct event_sink *sink, const type *event) \
	{                                                                    \
		return sink_call(filter_of(sink)->next, member, event);      \
	}

PASS(on_mapping, struct mapping)
PASS(on_name, struct thread_name)
PASS(on_fork, struct thread_life)
PASS(on_exit, struct thread_life)
PASS(on_kernel_symbol, struct kernel_symbol)
PASS(on_bpf_program, struct bpf_program)
PASS(on_cgroup, struct cgroup_name)
PASS(on_loss, struct loss)

static int pass_on_round(struct event_sink *sink, u64 time_ns)
{
	return sink_call(filter_of(sink)->next, on_round, time_ns);
}

static int pass_on_end(struct event_sink *sink)
{
	struct event_sink *next = filter_of(sink)->next;

	return next->on_end ? next->on_end(next) : 0;
}

struct event_sink *filter_new(const struct filter_settings *settings, struct event_sink *next)
{
	struct filter *filter = must_alloc(sizeof(*filter));

	filter->settings = *settings;
	filter->next = next;
	filter->sink = (struct event_sink){
		.on_sample = pass_sample,
		.on_mapping = pass_on_mapping,
		.on_name = pass_on_name,
		.on_fork = pass_on_fork,
		.on_exit = pass_on_exit,
		.on_kernel_symbol = pass_on_kernel_symbol,
		.on_bpf_program = pass_on_bpf_program,
		.on_cgroup = pass_on_cgroup,
		.on_loss = pass_on_loss,
		.on_round = pass_on_round,
		.on_end = pass_on_end,
	};
	return &filter->sink;
}

void filter_free(struct event_sink *filter)
{
	free(filter);
}
