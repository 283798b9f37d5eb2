/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parts of a recording that were counted apart, put together as if one builder had counted all.
 *
 * Rows stand in order of first sight, and what a part saw first that the parts before it had not
 * seen, it saw in the order in which all would have: so its rows go behind theirs, those apart that
 * are there already. Mostly that is seen from what a row holds. Not so of binaries, which are made
 * of the mapping in which a file was first seen, and of threads, whose ids are used again.
 */
#include "base/memory.h"
#include "profile/builder_state.h"
#include "profile/join.h"

bool profile_builder_can_append(const struct builder_settings *settings)
{
	return !settings->count_branches && !settings->count_blocks && !settings->details.kept;
}

struct joining *profile_builder_append_places(struct profile_builder *builder,
					      struct profile_builder *next)
{
	struct profile *profile = builder->profile;
	const struct profile *other = next->profile;
	binary_id *binaries;
	thread_id *threads;

	builder_count_pending(builder);
	builder_count_pending(next);
	/* It will count no more, and there is much to come. */
	chain_rows_begin(builder->chains, builder->locator, builder->profile);
	binaries = must_alloc_array(other->binaries.count, sizeof(*binaries));
	threads = must_alloc_array(other->threads.count, sizeof(*threads));
	locator_match(builder->locator, next->locator, binaries);
	profile_join_binaries(profile, other, binaries);
	locator_continue(builder->locator, next->locator, binaries);
	thread_lives_continue(&builder->threads, profile, &next->threads, other, threads);
	return profile_continue_places(profile, other, binaries, threads);
}

void profile_builder_append(struct profile_builder *builder, struct profile_builder *next)
{
	profile_continue(profile_builder_append_places(builder, next));
}
