/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each part of the recording has a builder of its own; then they are put together in order.
 */
#include "cmd/counting.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "cmd/shared_names.h"

enum { MOST_PARTS = 8 };

/* What counts a part. */
struct part_counter {
	struct names_asker *asker; /* NULL: none is wanted */
	struct profile_builder *builder;
	struct event_sink *filter;
	struct lbr_stitcher *stitcher; /* in front of the filter; NULL: none */
	struct event_sink *before;     /* stitcher and builder; NULL: no stitcher */
};

struct counting {
	const struct counting_settings *settings;
	struct perfdata *data;
	struct shared_names *names; /* NULL: not wanted */
	struct part_counter *counters;
	struct perfdata_slice *slices;
	u32 count;
};

static bool has_name(void *asker, struct profile *profile, location_id location)
{
	return names_asker_ask(asker, profile, location);
}

/* Before its part, the stitcher hears what the builder does. */
static void put_stitcher(struct part_counter *counter, struct lbr_stitcher *learned,
			 struct perfdata_slice *slice)
{
	counter->stitcher = lbr_stitcher_beside(learned, counter->filter);
	counter->before = tee_new(
		(struct event_sink *const[]){lbr_stitcher_follower(counter->stitcher),
					     slice->before},
		2);
	*slice = (struct perfdata_slice){
		.before = counter->before,
		.sink = lbr_stitcher_sink(counter->stitcher),
	};
}

static void counter_make(struct counting *counting, u32 index)
{
	const struct counting_settings *settings = counting->settings;
	struct part_counter *counter = &counting->counters[index];
	struct builder_settings builder = settings->builder;
	u32 count;
	const struct event_source *sources = perfdata_sources(counting->data, &count);

	if (counting->names) {
		counter->asker = names_asker_new(counting->names);
		builder.names = (struct name_test){has_name, counter->asker};
	}
	counter->builder = profile_builder_new(&builder, sources, count);
	counter->filter = filter_new(&settings->filter, profile_builder_sink(counter->builder));
	counting->slices[index] = (struct perfdata_slice){
		.before = profile_builder_follower(counter->builder),
		.sink = counter->filter,
	};
	if (settings->stitcher)
		put_stitcher(counter, settings->stitcher, &counting->slices[index]);
}

static void counter_release(struct part_counter *counter)
{
	tee_free(counter->before);
	lbr_stitcher_free(counter->stitcher);
	filter_free(counter->filter);
	profile_builder_free(counter->builder);
	names_asker_free(counter->asker);
}

static struct lbr_tally tally_of(const struct counting *counting)
{
	struct lbr_tally tally = {0};

	for (u32 i = 0; i < counting->count; i++)
		lbr_tally_sum(&tally, lbr_stitcher_tally(counting->counters[i].stitcher));
	return tally;
}

/* What is left to do when all parts have their places. */
struct rest {
	struct joining *parts[MOST_PARTS];
	u32 count;
};

static void *add_rest(void *context)
{
	struct rest *rest = context;

	for (u32 i = 0; i < rest->count; i++)
		profile_continue(rest->parts[i]);
	return NULL;
}

static struct profile *put_together(struct counting *counting, int error)
{
	const struct counting_settings *settings = counting->settings;
	struct profile_builder *first = counting->counters[0].builder;
	struct rest rest = {0};
	struct parallel_task adding = {0};
	struct profile *profile;

	/* Who gives names shall not look at what is added meanwhile. */
	for (u32 i = 0; settings->meanwhile && i < counting->count; i++)
		profile_builder_note_uses(counting->counters[i].builder);
	for (u32 i = 1; i < counting->count; i++)
		profile_builder_settle(counting->counters[i].builder);
	for (u32 i = 1; i < counting->count; i++)
		rest.parts[rest.count++] = profile_builder_append_places(
			first, counting->counters[i].builder);
	profile = profile_builder_take(first);
	if (!rest.count || !parallel_begin(&adding, add_rest, &rest))
		add_rest(&rest);
	if (settings->meanwhile && !error)
		settings->meanwhile(settings->context, profile);
	parallel_wait(&adding);
	return profile;
}

/* What was counted without lessons, where there are some, is counted again. */
static bool is_in_vain(const struct counting_settings *settings)
{
	return settings->stitcher && lbr_stitcher_lacks_lessons(settings->stitcher);
}

/* Putting parts together takes one thread. */
static u32 most_parts(void)
{
	size_t width = parallel_width();

	return width < MOST_PARTS ? (u32)width : MOST_PARTS;
}

int counting_read(struct perfdata *data, const struct counting_settings *settings,
		  struct profile **ret_profile, struct lbr_tally *ret_tally)
{
	/* Filters of later parts do not hear which cgroups the earlier ones told of. */
	bool is_sliced = profile_builder_can_append(&settings->builder) &&
			 !settings->filter.takes_cgroup;
	struct counting counting = {
		.settings = settings,
		.data = data,
		.names = settings->symbolizer ? shared_names_new(settings->symbolizer) : NULL,
	};
	int error;

	if (!settings->stitcher)
		perfdata_skip_bystanders(data);
	if (settings->builder.skip_chains)
		perfdata_skip_chains(data);
	counting.count = is_sliced ? perfdata_slices(data, most_parts()) : 1;
	counting.counters = must_alloc_array(counting.count, sizeof(*counting.counters));
	counting.slices = must_alloc_array(counting.count, sizeof(*counting.slices));
	for (u32 i = 0; i < counting.count; i++)
		counter_make(&counting, i);
	if (counting.count > 1)
		error = perfdata_read_slices(data, counting.slices, counting.count);
	else
		error = perfdata_read(data, counting.slices[0].sink);
	if (settings->stitcher)
		*ret_tally = tally_of(&counting);
	*ret_profile = is_in_vain(settings) ? NULL : put_together(&counting, error);
	for (u32 i = 0; i < counting.count; i++)
		counter_release(&counting.counters[i]);
	free(counting.counters);
	free(counting.slices);
	shared_names_free(counting.names);
	return error;
}
