/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pairing the lines of recordings, and their order.
 *
 * Source of the rules: Linux 6.1, tools/perf/builtin-diff.c; hists__match() and hists__link() of
 * util/hist.c. All arithmetic is in the order in which perf does it, so that the last bit of a
 * difference, which may decide about the order of lines, is the same.
 */
#include "profile/comparison.h"

#include "profile/entry_order.h"

#include <math.h>
#include <string.h>

/* One entry of one run's list, before pairing. */
struct candidate {
	const struct entry *entry;
	u32 run, row; /* of the run's list */
	u32 place;    /* among the list's entries, as they are told apart */
};

/* --- filters --- */

static bool name_passes(const struct name_filter *filter, const char *name)
{
	for (size_t i = 0; i < filter->count; i++)
		if (!strcmp(filter->names[i], name))
			return true;
	return filter->count == 0;
}

static bool number_passes(const u32 *numbers, size_t count, u32 number)
{
	for (size_t i = 0; i < count; i++)
		if (numbers[i] == number)
			return true;
	return count == 0;
}

static bool frame_passes(const struct fold *fold, const struct entry_list_settings *filters,
			 frame_id frame)
{
	const struct profile *profile = fold->profile;
	const struct binary_row *binary =
		&profile->binaries.items[fold->frames.items[frame].binary];

	return (name_passes(&filters->dsos, profile_text(profile, binary->short_name)) ||
		name_passes(&filters->dsos, profile_text(profile, binary->path))) &&
	       name_passes(&filters->symbols, fold_frame_name(fold, frame));
}

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

static void add_value(struct compared_value *sum, const struct compared_value *value)
{
	sum->period += value->period;
	sum->samples += value->samples;
	sum->is_there |= value->is_there;
}

static void list_runs(struct comparison *comparison)
{
	const struct comparison_settings *settings = &comparison->settings;

	comparison->lists = must_alloc_array(settings->run_count, sizeof(*comparison->lists));
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
		add_value(&comparison->side_totals[settings->runs[run].side], total);
	}
}

/* --- pairing --- */

static const struct entry_list *any_list(const struct comparison *comparison)
{
	for (u32 run = 0; run < comparison->settings.run_count; run++)
		if (comparison->lists[run])
			return comparison->lists[run];
	return NULL;
}

/* Compares what two entries read. */
static int compare_keys(const struct comparison *comparison, const struct entry *a,
			const struct entry *b)
{
	const struct entry_list *list = any_list(comparison);
	const struct entry_layout *layout = &comparison->settings.list.layout;

	for (u32 i = 0; i < layout->order_count; i++) {
		int order = 0;

		if (entry_field_is_key(layout->order[i]))
			order = entry_compare_key(list, layout->order[i], a, b);
		if (order)
			return order;
	}
	return 0;
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

	add_value(&comparison->run_values[entry * settings->run_count + candidate->run], &value);
	add_value(&comparison->side_values[entry * settings->side_count + side], &value);
}

static void begin_entry(struct comparison *comparison, const struct candidate *first)
{
	const struct comparison_settings *settings = &comparison->settings;

	*vec_add(&comparison->entries) = (struct compared_entry){
		.run = first->run,
		.entry = first->row,
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

/* --- figures --- */

static double percent_of(u64 period, u64 total)
{
	return (double)period * 100.0 / (double)total;
}

double comparison_share(const struct comparison *comparison, u32 entry, u32 side)
{
	return percent_of(comparison_value(comparison, entry, side)->period,
			  comparison->side_totals[side].period);
}

double comparison_base_share(const struct comparison *comparison, u32 entry)
{
	return percent_of(comparison_value(comparison, entry, 0)->period, comparison->base_total);
}

double comparison_delta(const struct comparison *comparison, u32 entry, u32 side)
{
	return comparison_share(comparison, entry, side) - comparison_share(comparison, entry, 0);
}

double comparison_ratio(const struct comparison *comparison, u32 entry, u32 side)
{
	u64 base = comparison_value(comparison, entry, 0)->period;

	return (double)comparison_value(comparison, entry, side)->period /
	       (double)(base ? base : 1);
}

s64 comparison_weighted(const struct comparison *comparison, u32 entry, u32 side)
{
	u64 base = comparison_value(comparison, entry, 0)->period;
	u64 other = comparison_value(comparison, entry, side)->period;

	return (s64)(other * (u64)comparison->settings.other_weight -
		     base * (u64)comparison->settings.base_weight);
}

const struct entry *comparison_shown(const struct comparison *comparison, u32 entry,
				     const struct entry_list **ret_list)
{
	const struct compared_entry *compared = &comparison->entries.items[entry];

	*ret_list = comparison->lists[compared->run];
	return &(*ret_list)->entries.items[compared->entry];
}

/* --- order --- */

/* Whether any side but the baseline has it. */
static bool has_pair(const struct comparison *comparison, u32 entry)
{
	for (u32 side = 1; side < comparison->settings.side_count; side++)
		if (comparison_value(comparison, entry, side)->is_there)
			return true;
	return false;
}

static int true_first(bool a, bool b)
{
	return (int)b - (int)a;
}

static int larger_first(double a, double b)
{
	return (a < b) - (a > b);
}

static int compare_computed(const struct comparison *comparison, u32 a, u32 b, u32 side)
{
	switch (comparison->settings.method) {
	case COMPARE_DELTA_ABS:
		return larger_first(fabs(comparison_delta(comparison, a, side)),
				    fabs(comparison_delta(comparison, b, side)));
	case COMPARE_DELTA:
		return larger_first(comparison_delta(comparison, a, side),
				    comparison_delta(comparison, b, side));
	case COMPARE_RATIO:
		return larger_first(comparison_ratio(comparison, a, side),
				    comparison_ratio(comparison, b, side));
	case COMPARE_WEIGHTED:
		break;
	}
	s64 of_a = comparison_weighted(comparison, a, side);
	s64 of_b = comparison_weighted(comparison, b, side);

	return (of_a < of_b) - (of_a > of_b);
}

static int compare_on_side(const struct comparison *comparison, u32 a, u32 b, u32 side)
{
	bool has_a = comparison_value(comparison, a, side)->is_there;
	bool has_b = comparison_value(comparison, b, side)->is_there;

	if (!has_a || !has_b)
		return true_first(has_a, has_b);
	return compare_computed(comparison, a, b, side);
}

/* The side that was asked for decides first. Shares can be told without a baseline; what cannot
 * stands below. */
static int compare_by_order(const struct comparison *comparison, u32 a, u32 b)
{
	enum comparison_method method = comparison->settings.method;
	u32 side = comparison->settings.order;
	bool has_a, has_b;

	if (!side)
		return 0;
	has_a = comparison_value(comparison, a, side)->is_there;
	has_b = comparison_value(comparison, b, side)->is_there;
	if (!has_a || !has_b)
		return true_first(has_a, has_b);
	if (method != COMPARE_DELTA && method != COMPARE_DELTA_ABS) {
		has_a = comparison_value(comparison, a, 0)->is_there;
		has_b = comparison_value(comparison, b, 0)->is_there;
		if (!has_a || !has_b)
			return true_first(has_a, has_b);
	}
	return compare_computed(comparison, a, b, side);
}

static int compare_shown(const void *left, const void *right, void *context)
{
	const struct comparison *comparison = context;
	u32 a = *(const u32 *)left, b = *(const u32 *)right;
	u64 base_of_a = comparison_value(comparison, a, 0)->period;
	u64 base_of_b = comparison_value(comparison, b, 0)->period;
	int order = compare_by_order(comparison, a, b);

	if (!order)
		order = (base_of_a < base_of_b) - (base_of_a > base_of_b);
	for (u32 side = 1; !order && side < comparison->settings.side_count; side++) {
		bool pair_of_a = has_pair(comparison, a), pair_of_b = has_pair(comparison, b);

		order = pair_of_a != pair_of_b ? true_first(pair_of_a, pair_of_b)
					       : compare_on_side(comparison, a, b, side);
	}
	/* Entries are numbered in the order of their keys. */
	return order ? order : (a > b) - (a < b);
}

static bool is_left_out(const struct comparison *comparison, u32 entry)
{
	return comparison->settings.paired_only &&
	       (!comparison_value(comparison, entry, 0)->is_there || !has_pair(comparison, entry));
}

static void sort_entries(struct comparison *comparison)
{
	const struct comparison_settings *settings = &comparison->settings;

	comparison->sorted = must_alloc_array(comparison->entries.count,
					      sizeof(*comparison->sorted));
	for (u32 entry = 0; entry < comparison->entries.count; entry++) {
		bool is_hidden = comparison->entries.items[entry].is_hidden;

		if (is_left_out(comparison, entry))
			continue;
		if (settings->is_strict && !(is_hidden && settings->list.is_relative))
			comparison->base_total += comparison_value(comparison, entry, 0)->period;
		if (!is_hidden)
			comparison->sorted[comparison->sorted_count++] = entry;
	}
	if (!settings->is_strict)
		comparison->base_total = comparison->side_totals[0].period;
	qsort_r(comparison->sorted, comparison->sorted_count, sizeof(*comparison->sorted),
		compare_shown, comparison);
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
	pair_entries(comparison);
	sort_entries(comparison);
	return comparison;
}

void comparison_free(struct comparison *comparison)
{
	if (!comparison)
		return;
	for (u32 run = 0; run < comparison->settings.run_count; run++)
		entry_list_free(comparison->lists[run]);
	free(comparison->lists);
	free(comparison->runs);
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
