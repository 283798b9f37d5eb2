/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples become rows, several side by side.
 *
 * To find the rows of a sample is to look into tables that are larger than what is near to the CPU,
 * and each place depends on what was found at the one before: so one sample after the other means
 * to wait for memory most of the time. Of samples that wait together all do the same step, which
 * asks for the memory that their next step looks at. Steps are taken in the order of the samples,
 * and each step makes rows of one kind: so all rows stand where they would if samples came alone.
 */
#include "profile/builder_state.h"

struct mapping_states builder_states_for(const struct sample *sample, const struct teller *teller)
{
	struct mapping_states states = teller->states;

	if (sample->space == SPACE_KERNEL && !(sample->chain_key & 1))
		states.user = 0;
	return states;
}

/* --- steps --- */

/* Whether the row where one with the same chain and address was counted is the sample's own. */
static bool is_counted_again(const struct profile *profile, const struct pending_sample *pending)
{
	const struct count_row *count;

	if (!pending->again)
		return false;
	count = &profile->counts.items[pending->again - 1];
	return count->labels == pending->count.labels && count->source == pending->count.source &&
	       count->space == pending->count.space;
}

/* Counts samples that have rows already, and leaves the others. */
static void count_again(struct profile_builder *builder)
{
	u32 left = 0;

	for (u32 i = 0; i < builder->pending_count; i++) {
		const struct pending_sample *pending = &builder->pending[i];
		struct count_row *count;

		if (!is_counted_again(builder->profile, pending)) {
			builder->pending[left++] = *pending;
			continue;
		}
		count = &builder->profile->counts.items[pending->again - 1];
		count->weight += pending->count.weight;
		count->samples += pending->count.samples;
	}
	builder->pending_count = left;
}

static location_id find_leaf(struct profile_builder *builder, const struct pending_sample *pending)
{
	const struct virtual_place *place = &pending->leaf;

	if (place->space != SPACE_USER && place->space != SPACE_KERNEL)
		return locator_find(builder->locator, builder->profile, place->pid, place->address,
				    place->space);
	return locator_find_in_state(builder->locator, builder->profile, place,
				     place->space == SPACE_USER ? pending->states.user
								: pending->states.kernel);
}

/* Places of the chain, then that of the leaf; mostly it is the chain's first one. */
static void find_places(struct profile_builder *builder, struct pending_sample *pending)
{
	location_id first = 0;

	if (pending->has_chain)
		first = chain_rows_find_places(builder->chains, &pending->chain);
	pending->count.leaf = first && pending->leaf_is_first ? first : find_leaf(builder, pending);
}

static void find_stack(struct profile_builder *builder, struct pending_sample *pending)
{
	if (pending->has_chain)
		pending->count.stack = chain_rows_find(builder->chains, &pending->chain);
	profile_expect_count(builder->profile, &pending->count);
}

static void add_count(struct profile_builder *builder, const struct pending_sample *pending)
{
	u32 row = profile_add(builder->profile, &pending->count);
	struct known_chain *known;

	if (!pending->count.stack || !pending->chain_key)
		return;
	known = chain_rows_known(builder->chains, pending->chain_key, pending->key_states);
	if (!known)
		known = chain_rows_learn(builder->chains, pending->chain_key, pending->count.stack,
					 pending->key_states);
	known->count = row + 1;
	known->address = pending->leaf.address;
}

void builder_count_pending(struct profile_builder *builder)
{
	struct pending_sample *end, *at;

	count_again(builder);
	end = builder->pending + builder->pending_count;
	for (at = builder->pending; at < end; at++)
		if (at->has_chain)
			chain_rows_expect_places(builder->chains, &at->chain);
	for (at = builder->pending; at < end; at++)
		find_places(builder, at);
	for (at = builder->pending; at < end; at++)
		find_stack(builder, at);
	for (at = builder->pending; at < end; at++)
		profile_expect_count_row(builder->profile, &at->count);
	for (at = builder->pending; at < end; at++)
		add_count(builder, at);
	chain_rows_done(builder->chains);
	builder->pending_count = 0;
}

/* --- samples --- */

static struct pending_sample pending_of(const struct sample *sample, const struct teller *teller)
{
	return (struct pending_sample){
		.count =
			{
				.labels = teller->labels,
				.source = sample->source,
				.first_thread = teller->thread,
				.space = sample->space,
				.weight = sample->weight,
				.samples = sample_count(sample),
			},
		.leaf = {.address = sample->address, .pid = sample->pid, .space = sample->space},
		.states = teller->states,
		.key_states = builder_states_for(sample, teller),
	};
}

static void want_chain(struct profile_builder *builder, const struct sample *sample,
		       struct pending_sample *pending)
{
	const struct frame *first = sample->frames;

	chain_rows_want(builder->chains, sample, pending->states, &pending->chain);
	pending->has_chain = true;
	pending->leaf_is_first = first->address == sample->address && first->space == sample->space;
}

/* A chain that was seen before, mostly with the same address. */
static __attribute__((always_inline)) inline void expect_known(
	const struct profile_builder *builder, const struct known_chain *known,
	struct pending_sample *pending)
{
	pending->count.stack = known->stack;
	if (!known->count || known->address != pending->leaf.address)
		return;
	pending->again = known->count;
	__builtin_prefetch(&builder->profile->counts.items[known->count - 1]);
}

void builder_count_sample(struct profile_builder *builder, const struct sample *sample,
			  const struct teller *teller)
{
	bool has_key = sample->chain_key && !builder->settings.skip_chains;
	const struct known_chain *known = NULL;
	struct pending_sample *pending;

	if (has_key)
		known = chain_rows_known(builder->chains, sample->chain_key,
					 builder_states_for(sample, teller));
	pending = &builder->pending[builder->pending_count++];
	*pending = pending_of(sample, teller);
	if (has_key)
		pending->chain_key = sample->chain_key;
	if (known)
		expect_known(builder, known, pending);
	else if (sample->frame_count && !builder->settings.skip_chains)
		want_chain(builder, sample, pending);
	if (builder->pending_count == MOST_PENDING)
		builder_count_pending(builder);
}
