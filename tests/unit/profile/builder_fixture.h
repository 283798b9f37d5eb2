/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A builder and the sink that fills it, and what is said to it.
 */
#ifndef UNIT_PROFILE_BUILDER_FIXTURE_H
#define UNIT_PROFILE_BUILDER_FIXTURE_H

#include "unit/unit.h"

#include "profile/builder.h"

struct fixture {
	struct profile_builder *builder;
	struct event_sink *sink;
	struct profile *profile;
};

static inline int setup(void **state)
{
	static const struct event_source source = {.name = "cpu-clock"};
	struct fixture *fixture = must_alloc(sizeof(*fixture));
	struct builder_settings settings = {.keep = KEEP_TID};

	fixture->builder = profile_builder_new(&settings, &source, 1);
	fixture->sink = profile_builder_sink(fixture->builder);
	*state = fixture;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *fixture = *state;

	profile_free(fixture->profile);
	profile_builder_free(fixture->builder);
	free(fixture);
	return 0;
}

static inline void take_at(struct fixture *fixture, u32 pid, u64 address, u8 space)
{
	struct frame frame = {.address = address, .space = space};
	struct sample sample = {
		.weight = 1,
		.address = address,
		.space = space,
		.pid = pid,
		.tid = pid,
		.frames = &frame,
		.frame_count = 1,
		.has_chain = true,
	};

	sink_call(fixture->sink, on_sample, &sample);
}

#endif
