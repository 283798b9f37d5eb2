/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each part of the recording has a builder of its own; then they are put together in order.
 */
#include "cmd/counting.h"

#include "base/memory.h"
#include "cmd/shared_names.h"

/* What counts a part. */
struct part_counter {
	struct names_asker *asker; /* NULL: none is wanted */
	struct profile_builder *builder;
	struct event_sink *filter;
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
}

static void counter_release(struct part_counter *counter)
{
	filter_free(counter->filter);
	profile_builder_free(counter->builder);
	names_asker_free(counter->asker);
}

static struct profile *put_together(struct counting *counting)
{
	struct profile *profile;

	for (u32 i = 1; i < counting->count; i++) {
		profile_builder_append(counting->counters[0].builder,
				       counting->counters[i].builder);
		counter_release(&counting->counters[i]);
	}
	profile = profile_builder_take(counting->counters[0].builder);
	counter_release(&counting->counters[0]);
	return profile;
}

int counting_read(struct perfdata *data, const struct counting_settings *settings,
		  struct profile **ret_profile)
{
	/* Filters of later parts do not hear which cgroups the earlier ones told of. */
	bool is_sliced = profile_builder_can_append(&settings->builder) &&
			 !settings->filter.takes_cgroup;
	struct counting counting = {
		.settings = settings,
		.data = data,
		.names = settings->symbolizer ? shared_names_new(settings->symbolizer) : NULL,
		.count = is_sliced ? perfdata_slices(data) : 1,
	};
	int error;

	counting.counters = must_alloc_array(counting.count, sizeof(*counting.counters));
	counting.slices = must_alloc_array(counting.count, sizeof(*counting.slices));
	for (u32 i = 0; i < counting.count; i++)
		counter_make(&counting, i);
	if (counting.count > 1)
		error = perfdata_read_slices(data, counting.slices, counting.count);
	else
		error = perfdata_read(data, counting.counters[0].filter);
	*ret_profile = put_together(&counting);
	free(counting.counters);
	free(counting.slices);
	shared_names_free(counting.names);
	return error;
}
