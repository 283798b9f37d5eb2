/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pairing the lines of recordings.
 *
 * Source of the rules: Linux 6.1, tools/perf/builtin-diff.c; hists__match() and hists__link() of
 * util/hist.c.
 */
#include "profile/comparison_parts.h"
#include "profile/entry_filter.h"
#include "profile/entry_order.h"

#include <string.h>

/* One entry of one run's list, before pairing. */
struct candidate {
	const struct entry *entry;
	u32 run, row; /* of the run's list */
	u32 place;    /* among the list's entries, as they are told apart */
};

/* What the builds of one binary's name are: a binary row, or several. */
enum { SEVERAL_BUILDS = UINT32_MAX };

/* --- filters --- */

/* perf asks the sample that an entry began with. */
static bool first_sample_passes(const struct fold *fold, const struct entry_list_settings *filters,
				const struct entry *entry)
{
	const struct thread_row *thread = &fold->profile->threads.items[entry->thread];

	return name_passes(&filters->comms, profile_text(fold->profile, entry->comm)) &&
	       number_passes(filters->pids, filters->pid_count, thread->pid) &&
	       number_passes(filters->tids, filters->tid_count, thread->tid) &&
	       frame_passes(fold, filters, entry->frame);
}

static bool has_filters(const struct entry_list_settings *list)
{
	return list->comms.count || list->dsos.count || list->symbols.count || list->pid_count ||
	       list->tid_count;
}

static struct entry_list_settings without_filters(struct entry_list_settings list)
{
	list.comms = list.dsos = list.symbols = (struct name_filter){0};
	list.pid_count = list.tid_count = 0;
	return list;
}

/* --- what is counted --- */

/* The list of a run, and what is 100% of it. */
static struct entry_list *list_run(const struct comparison *comparison, u32 run, u64 *ret_period,
				   u64 *ret_samples)
{
	struct entry_list_settings settings = comparison->settings.list;
	struct entry_list *list, *whole;

	settings.source = comparison->settings.runs[run].source;
	list = entry_list_new(comparison->fold, &settings);
	*ret_period = list->total_period;
	*ret_samples = settings.is_relative ? list->shown_samples : list->all_samples;
	if (!comparison->settings.is_strict || !has_filters(&settings))
		return list;
	settings = without_filters(settings);
	whole = entry_list_new(comparison->fold, &settings);
	entry_list_free(list);
	return whole;
}

bool comparison_asks_run(const struct comparison *comparison, u32 run, u32 side)
{
	const struct comparison_run *asked = &comparison->settings.runs[run];

	return (asked->side == 0 || asked->side == side) && asked->source != NO_SOURCE;
}

void comparison_add(struct compared_value *sum, const struct compared_value *value)
{
	sum->period += value->period;
	sum->samples += value->samples;
	sum->is_there |= value->is_there;
}

static void list_runs(struct comparison *comparison)
{
	const struct comparison_settings *settings = &comparison->settings;

	comparison->lists = must_alloc_array(settings->run_count, sizeof(*comparison->lists));
	comparison->entry_of = must_alloc_array(settings->run_count, sizeof(*comparison->entry_of));
	comparison->run_totals = must_alloc_array(settings->run_count,
						  sizeof(*comparison->run_totals));
	comparison->side_totals = must_alloc_array(settings->side_count,
						   sizeof(*comparison->side_totals));
	for (u32 run = 0; run < settings->run_count; run++) {
		struct compared_value *total = &comparison->run_totals[run];

		if (settings->runs[run].source == NO_SOURCE)
			continue;
		total->is_there = true;
		comparison->lists[run] = list_run(comparison, run, &total->period, &total->samples);
		comparison->entry_of[run] = must_alloc_array(comparison->lists[run]->entries.count,
							     sizeof(u32));
		comparison_add(&comparison->side_totals[settings->runs[run].side], total);
	}
}

/* --- code without names --- */

/* The first binary row with the same build id; of what has none, itself. By binary_id, owned by the
 * caller. */
static binary_id *number_builds(const struct profile *profile)
{
	binary_id *builds = must_alloc_array(profile->binaries.count, sizeof(*builds));
	struct idmap first = {0};
	struct intern ids = {0};

	for (binary_id id = 1; id < profile->binaries.count; id++) {
		const struct binary_row *binary = &profile->binaries.items[id];
		u32 *place;

		builds[id] = id;
		if (!binary->build_id_bytes)
			continue;
		place = idmap_place(&first,
				    intern_bytes(&ids, binary->build_id, binary->build_id_bytes));
		if (!*place)
			*place = id;
		builds[id] = *place;
	}
	idmap_release(&first);
	intern_release(&ids);
	return builds;
}

/* Finds out which binaries are one build in all runs: only there an address says which code it is.
 */
static void find_code(struct comparison *comparison)
{
	const struct fold *fold = comparison->fold;
	const struct profile *profile = fold->profile;

	comparison->builds = number_builds(profile);
	for (frame_id id = 1; id < fold->frames.count; id++) {
		binary_id binary = fold->frames.items[id].binary;
		binary_id build = comparison->builds[binary];
		u32 *place = idmap_place(&comparison->build_of_name,
					 profile->binaries.items[binary].short_name);

		if (!*place)
			*place = build ? build : SEVERAL_BUILDS;
		else if (*place != build)
			*place = SEVERAL_BUILDS;
	}
}

bool comparison_is_named(const struct comparison *comparison, const struct entry *entry)
{
	const struct fold *fold = comparison->fold;
	function_id function = fold->frames.items[entry->frame].function;

	return function && !fold->profile->functions.items[function].is_anonymous;
}

/* Whether the addresses of an entry's binary are not the same code everywhere. */
static bool has_unlike_code(const struct comparison *comparison, const struct entry *entry)
{
	const struct fold *fold = comparison->fold;
	binary_id binary = fold->frames.items[entry->frame].binary;
	string_id name = fold->profile->binaries.items[binary].short_name;

	return idmap_get(&comparison->build_of_name, name) == SEVERAL_BUILDS;
}

/* Tells apart what has no name: by address in one build, else only by the name of the binary. */
static int compare_nameless(const struct comparison *comparison, const struct entry *a,
			    const struct entry *b)
{
	const struct fold *fold = comparison->fold;
	const struct entry *both[] = {a, b};
	u64 code[2], start[2] = {0};

	for (u32 i = 0; i < 2; i++) {
		binary_id binary = fold->frames.items[both[i]->frame].binary;

		code[i] = comparison->builds[binary];
		if (has_unlike_code(comparison, both[i]))
			code[i] = (u64)fold->profile->binaries.items[binary].short_name << 32;
		else
			start[i] = fold_frame_start(fold, both[i]->frame);
	}
	if (code[0] != code[1])
		return code[0] < code[1] ? -1 : 1;
	return (start[0] > start[1]) - (start[0] < start[1]);
}

/* --- pairing --- */

static const struct entry_list *any_list(const struct comparison *comparison)
{
	for (u32 run = 0; run < comparison->settings.run_count; run++)
		if (comparison->lists[run])
			return comparison->lists[run];
	return NULL;
}

/* Compares what two entries read. Names of code without symbols say where it begins, which is
 * nothing to go by in another build. */
static int compare_keys(const struct comparison *comparison, const struct entry *a,
			const struct entry *b)
{
	const struct entry_list *list = any_list(comparison);
	const struct entry_layout *layout = &comparison->settings.list.layout;
	bool has_symbol = entry_layout_has_key(layout, FIELD_SYMBOL);
	bool is_nameless = has_symbol && !comparison->settings.is_strict &&
			   !comparison_is_named(comparison, a) &&
			   !comparison_is_named(comparison, b);

	for (u32 i = 0; i < layout->order_count; i++) {
		u8 field = layout->order[i];
		int order = 0;

		if (field == FIELD_SYMBOL && !comparison->settings.is_strict)
			order = (int)comparison_is_named(comparison, b) -
				(int)comparison_is_named(comparison, a);
		if (!order && entry_field_is_key(field) && !(is_nameless && field == FIELD_SYMBOL))
			order = entry_compare_key(list, field, a, b);
		if (order)
			return order;
	}
	return is_nameless ? compare_nameless(comparison, a, b) : 0;
}

static int compare_candidates(const void *left, const void *right, void *context)
{
	const struct candidate *a = left, *b = right;
	int order = compare_keys(context, a->entry, b->entry);

	if (order)
		return order;
	if (a->run != b->run)
		return a->run < b->run ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

/* All entries of all runs, equal ones together, and of them the first run's first; owned by the
 * caller. */
static struct candidate *gather(const struct comparison *comparison, size_t *ret_count)
{
	VEC(struct candidate) all = {0};

	for (u32 run = 0; run < comparison->settings.run_count; run++) {
		const struct entry_list *list = comparison->lists[run];
		CLEANUP(freep) u32 *order = list ? entry_order_by_identity(list) : NULL;

		for (u32 place = 0; list && place < list->entries.count; place++)
			*vec_add(&all) = (struct candidate){
				.entry = &list->entries.items[order[place]],
				.run = run,
				.row = order[place],
				.place = place,
			};
	}
	if (all.count)
		qsort_r(all.items, all.count, sizeof(*all.items), compare_candidates,
			(void *)comparison);
	*ret_count = all.count;
	return all.items;
}

static void add_candidate(struct comparison *comparison, const struct candidate *candidate)
{
	const struct comparison_settings *settings = &comparison->settings;
	size_t entry = comparison->entries.count - 1;
	const struct entry_list *list = comparison->lists[candidate->run];
	struct compared_value value = {
		.period = entry_whole_period(list, candidate->entry),
		.samples = entry_whole_samples(list, candidate->entry),
		.is_there = true,
	};
	u32 side = settings->runs[candidate->run].side;

	comparison->entry_of[candidate->run][candidate->row] = (u32)entry;
	comparison_add(&comparison->run_values[entry * settings->run_count + candidate->run],
		       &value);
	comparison_add(&comparison->side_values[entry * settings->side_count + side], &value);
}

static void begin_entry(struct comparison *comparison, const struct candidate *first)
{
	const struct comparison_settings *settings = &comparison->settings;

	*vec_add(&comparison->entries) = (struct compared_entry){
		.run = first->run,
		.entry = first->row,
		.is_lumped = entry_layout_has_key(&settings->list.layout, FIELD_SYMBOL) &&
			     !comparison_is_named(comparison, first->entry) &&
			     has_unlike_code(comparison, first->entry),
		.is_hidden = settings->is_strict &&
			     !first_sample_passes(comparison->fold, &settings->list, first->entry),
	};
}

static void pair_entries(struct comparison *comparison)
{
	const struct comparison_settings *settings = &comparison->settings;
	size_t count;
	CLEANUP(freep) struct candidate *all = gather(comparison, &count);

	comparison->run_values = must_alloc_array(count * settings->run_count,
						  sizeof(*comparison->run_values));
	comparison->side_values = must_alloc_array(count * settings->side_count,
						   sizeof(*comparison->side_values));
	for (size_t i = 0; i < count; i++) {
		if (!i || compare_keys(comparison, all[i - 1].entry, all[i].entry) != 0)
			begin_entry(comparison, &all[i]);
		add_candidate(comparison, &all[i]);
	}
}

/* --- the comparison --- */

struct comparison *comparison_new(const struct fold *fold,
				  const struct comparison_settings *settings)
{
	struct comparison *comparison = must_alloc(sizeof(*comparison));

	comparison->fold = fold;
	comparison->settings = *settings;
	comparison->runs = must_alloc_array(settings->run_count, sizeof(*comparison->runs));
	memcpy(comparison->runs, settings->runs, settings->run_count * sizeof(*comparison->runs));
	comparison->settings.runs = comparison->runs;
	list_runs(comparison);
	find_code(comparison);
	pair_entries(comparison);
	if (!settings->is_strict)
		comparison_join_moved(comparison);
	comparison_sort(comparison);
	return comparison;
}

void comparison_free(struct comparison *comparison)
{
	if (!comparison)
		return;
	for (u32 run = 0; run < comparison->settings.run_count; run++) {
		entry_list_free(comparison->lists[run]);
		free(comparison->entry_of[run]);
	}
	free(comparison->lists);
	free(comparison->entry_of);
	free(comparison->runs);
	free(comparison->builds);
	idmap_release(&comparison->build_of_name);
	free(comparison->run_totals);
	free(comparison->side_totals);
	free(comparison->run_values);
	free(comparison->side_values);
	free(comparison->sorted);
	vec_release(&comparison->entries);
	free(comparison);
}

void comparison_freep(struct comparison **comparison)
{
	comparison_free(*comparison);
}
