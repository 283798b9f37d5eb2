/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Several recordings in one profile: row by row, in the order of the tables, since a row refers to
 * rows of tables before its own and to earlier ones of its own.
 */
#include "profile/join.h"

#include "base/memory.h"

#include <string.h>

/* What became of the other profile's rows. */
struct joining {
	struct profile *profile;
	const struct profile *other;
	binary_id *binaries;
	location_id *locations;
	stack_id *stacks;
	branch_id *branches;
	detail_id *details;
	label_id *labels;
	thread_id *threads;
	u32 *sources;
	bool is_more; /* of the same: what is alike is one */
};

static string_id join_string(const struct joining *joining, string_id id)
{
	return id ? intern_text(&joining->profile->strings, profile_text(joining->other, id)) : 0;
}

/* The row of the same event; sources.count: there is none. */
static u32 find_source(const struct joining *joining, const struct event_source *wanted)
{
	const struct profile *profile = joining->profile;
	u32 row = joining->is_more ? 0 : (u32)profile->sources.count;

	for (; row < profile->sources.count; row++) {
		const struct event_source *source = &profile->sources.items[row];

		if (source->type == wanted->type && source->config == wanted->config &&
		    source->has_chain == wanted->has_chain && !strcmp(source->name, wanted->name))
			break;
	}
	return row;
}

static void join_sources(struct joining *joining)
{
	struct profile *profile = joining->profile;

	joining->sources = must_alloc_array(joining->other->sources.count,
					    sizeof(*joining->sources));
	for (size_t i = 0; i < joining->other->sources.count; i++) {
		struct event_source source = joining->other->sources.items[i];
		u32 row = find_source(joining, &source);

		joining->sources[i] = row;
		if (row < profile->sources.count) {
			profile->sources.items[row].is_counted |= source.is_counted;
			continue;
		}
		source.name = intern_view(&profile->strings,
					  intern_text(&profile->strings, source.name));
		*vec_add(&profile->sources) = source;
	}
}

void profile_join_binaries(struct profile *profile, const struct profile *other,
			   binary_id *binaries)
{
	for (size_t i = 1; i < other->binaries.count; i++) {
		struct binary_row row = other->binaries.items[i];

		if (binaries[i])
			continue;
		row.path = intern_text(&profile->strings, profile_text(other, row.path));
		row.short_name = intern_text(&profile->strings,
					     profile_text(other, row.short_name));
		binaries[i] = profile_binary(profile, &row);
	}
}

static void join_locations(struct joining *joining)
{
	const struct profile *other = joining->other;

	joining->locations = must_alloc_array(other->locations.count, sizeof(*joining->locations));
	for (size_t i = 1; i < other->locations.count; i++) {
		const struct location_row *row = &other->locations.items[i];
		location_id location = profile_location(
			joining->profile, joining->binaries[row->binary], row->address, row->space);

		if (row->seen_at)
			location = profile_location_seen_at(joining->profile, location,
							    row->seen_at);
		joining->profile->locations.items[location].uses |= row->uses;
		joining->locations[i] = location;
	}
}

static void join_stacks(struct joining *joining)
{
	const struct profile *other = joining->other;

	joining->stacks = must_alloc_array(other->stacks.count, sizeof(*joining->stacks));
	profile_join_stacks(joining->profile, other, joining->locations, joining->stacks);
	joining->branches = must_alloc_array(other->branches.count, sizeof(*joining->branches));
	for (size_t i = 1; i < other->branches.count; i++) {
		struct branch_row row = other->branches.items[i];

		row.from = joining->locations[row.from];
		row.to = joining->locations[row.to];
		joining->branches[i] = profile_branch(joining->profile, &row);
	}
}

/* Equal thread ids are different threads in another recording. */
static void join_threads(struct joining *joining)
{
	struct profile *profile = joining->profile;

	joining->threads = must_alloc_array(joining->other->threads.count,
					    sizeof(*joining->threads));
	for (size_t i = 1; i < joining->other->threads.count; i++) {
		struct thread_row row = joining->other->threads.items[i];

		row.comm = join_string(joining, row.comm);
		joining->threads[i] = (thread_id)profile->threads.count;
		*vec_add(&profile->threads) = row;
	}
}

static void join_labels(struct joining *joining)
{
	const struct profile *other = joining->other;

	joining->details = must_alloc_array(other->details.count, sizeof(*joining->details));
	for (size_t i = 1; i < other->details.count; i++)
		joining->details[i] = profile_details(joining->profile, &other->details.items[i]);
	for (size_t i = 0; i < other->cgroups.count; i++) {
		struct cgroup_row row = other->cgroups.items[i];

		profile_add_cgroup(joining->profile, row.id, join_string(joining, row.path));
	}
	joining->labels = must_alloc_array(other->labels.count, sizeof(*joining->labels));
	for (size_t i = 1; i < other->labels.count; i++) {
		struct label_row row = other->labels.items[i];

		row.comm = join_string(joining, row.comm);
		row.detail = joining->details[row.detail];
		joining->labels[i] = profile_labels(joining->profile, &row);
	}
}

static void add_early_end(const struct joining *joining, const struct early_end_row *row)
{
	struct profile *profile = joining->profile;

	for (size_t i = 0; joining->is_more && i < profile->early_ends.count; i++) {
		struct early_end_row *known = &profile->early_ends.items[i];

		if (known->binary != row->binary || known->cut != row->cut)
			continue;
		known->stacks += row->stacks;
		return;
	}
	*vec_add(&profile->early_ends) = *row;
}

static void join_counts(struct joining *joining)
{
	const struct profile *other = joining->other;

	if (!joining->is_more)
		vec_reserve(&joining->profile->counts, other->counts.count);
	for (size_t i = 0; i < other->counts.count; i++) {
		struct count_row row = other->counts.items[i];

		row.stack = joining->stacks[row.stack];
		row.leaf = joining->locations[row.leaf];
		row.branch = joining->branches[row.branch];
		row.labels = joining->labels[row.labels];
		row.source = joining->sources[row.source];
		row.first_thread = joining->threads[row.first_thread];
		if (joining->is_more)
			profile_add(joining->profile, &row);
		else /* of a source of its own */
			profile_append(joining->profile, &row);
	}
	for (size_t i = 0; i < other->blocks.count; i++) {
		struct block_row row = other->blocks.items[i];

		row.start = joining->locations[row.start];
		row.end = joining->locations[row.end];
		row.source = joining->sources[row.source];
		*vec_add(&joining->profile->blocks) = row;
	}
	for (size_t i = 0; i < other->early_ends.count; i++) {
		struct early_end_row row = other->early_ends.items[i];

		row.binary = joining->binaries[row.binary];
		add_early_end(joining, &row);
	}
}

static void add_totals(struct profile_totals *sum, const struct profile_totals *totals)
{
	sum->samples += totals->samples;
	sum->weight += totals->weight;
	for (size_t i = 0; i < ARRAY_COUNT(sum->losses); i++)
		sum->losses[i] += totals->losses[i];
	for (size_t i = 0; i < ARRAY_COUNT(sum->stacks.ends); i++)
		sum->stacks.ends[i] += totals->stacks.ends[i];
	for (size_t i = 0; i < ARRAY_COUNT(sum->stacks.walks); i++)
		sum->stacks.walks[i] += totals->stacks.walks[i];
	if (totals->first_ns && (!sum->first_ns || totals->first_ns < sum->first_ns))
		sum->first_ns = totals->first_ns;
	if (totals->last_ns > sum->last_ns)
		sum->last_ns = totals->last_ns;
}

/* All that refers to sources, binaries and threads, of which it is known what they became: first
 * what names are given to, and what has names. */
static void join_places(struct joining *joining)
{
	join_locations(joining);
	join_labels(joining);
	add_totals(&joining->profile->totals, &joining->other->totals);
}

/* Then the rest. */
static void join_samples(struct joining *joining)
{
	join_stacks(joining);
	join_counts(joining);
	free(joining->sources);
	free(joining->locations);
	free(joining->stacks);
	free(joining->branches);
	free(joining->details);
	free(joining->labels);
}

static void join(struct profile *profile, const struct profile *other, bool is_more)
{
	struct joining joining = {
		.profile = profile,
		.other = other,
		.is_more = is_more,
		.binaries = must_alloc_array(other->binaries.count, sizeof(*joining.binaries)),
	};

	join_sources(&joining);
	profile_join_binaries(profile, other, joining.binaries);
	join_threads(&joining);
	join_places(&joining);
	join_samples(&joining);
	free(joining.binaries);
	free(joining.threads);
}

struct joining *profile_continue_places(struct profile *profile, const struct profile *other,
					binary_id *binaries, thread_id *threads)
{
	struct joining *joining = must_alloc(sizeof(*joining));

	*joining = (struct joining){
		.profile = profile,
		.other = other,
		.is_more = true,
		.binaries = binaries,
		.threads = threads,
		.sources = must_alloc_array(other->sources.count, sizeof(*joining->sources)),
	};
	for (u32 i = 0; i < other->sources.count; i++)
		joining->sources[i] = i;
	join_places(joining);
	return joining;
}

void profile_continue(struct joining *joining)
{
	join_samples(joining);
	free(joining->binaries);
	free(joining->threads);
	free(joining);
}

u32 profile_join(struct profile *profile, const struct profile *other)
{
	u32 first_source = (u32)profile->sources.count;

	join(profile, other, false);
	return first_source;
}

void profile_merge(struct profile *profile, const struct profile *other)
{
	join(profile, other, true);
}
