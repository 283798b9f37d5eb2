/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples on their way, with another weight.
 */
#include "cmd/memory_costs.h"

#include "base/memory.h"
#include "event/event.h"

struct memory_costs {
	struct passing_sink passing; /* first */
	struct perfdata *data;
};

static int pass_sample(struct event_sink *sink, const struct sample *sample)
{
	const struct memory_costs *costs = (struct memory_costs *)sink;
	const struct sample_details *details = perfdata_details(costs->data, sample);
	struct sample weighed = *sample;

	weighed.weight = details && details->weight ? details->weight : 1;
	return sink_call(costs->passing.next, on_sample, &weighed);
}

struct event_sink *memory_costs_new(struct perfdata *data, struct event_sink *next)
{
	struct memory_costs *costs = must_alloc(sizeof(*costs));

	passing_sink_init(&costs->passing, next);
	costs->passing.sink.on_sample = pass_sample;
	costs->data = data;
	return &costs->passing.sink;
}
