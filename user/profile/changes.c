/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a comparison to questions about its lines, and back.
 *
 * Slices of time are counted run by run, and only of lines that have samples enough to show a
 * burst, so memory stays small: slices times such lines.
 */
#include "profile/changes.h"

#include "profile/comparison_parts.h"
#include "profile/entry_index.h"

#include <string.h>

enum {
	LEAST_SAMPLES = 6, /* of a line whose slices are looked at */
	NS_PER_MS = 1000000,
};

static const double ns_per_s = 1e9;

struct judging {
	const struct comparison *comparison;
	struct changes *changes;
	u64 quantum_ns;
	double *seconds;	/* by run */
	struct sampled *parts;	/* by entry, by run */
	struct sampled *totals; /* by run */
	u32 *place_of;		/* by entry: from 1 in `dispersions`; 0: too few samples */
	u32 place_count;
	struct dispersion *dispersions;
};

u64 changes_quantum(const u64 *lengths_ns, u32 count)
{
	u64 shortest = UINT64_MAX, longest = 0, quantum;

	for (u32 i = 0; i < count; i++) {
		if (lengths_ns[i] && lengths_ns[i] < shortest)
			shortest = lengths_ns[i];
		if (lengths_ns[i] > longest)
			longest = lengths_ns[i];
	}
	if (!longest)
		return 0;
	quantum = shortest / CHANGES_SLICES;
	if (quantum < longest / CHANGES_SLICES_MAX)
		quantum = longest / CHANGES_SLICES_MAX;
	return quantum < NS_PER_MS ? NS_PER_MS : quantum;
}

/* --- slices of time --- */

/* The slices of one run: of each line that is looked at, and of all samples. */
struct slices {
	u64 first; /* slice from the clock's start */
	u32 count;
	u32 *whole, *parts; /* parts: by place of the line, by slice */
};

static u64 slice_of(const struct judging *judging, const struct folded_row *row)
{
	const struct profile *profile = judging->comparison->fold->profile;
	const struct label_row *labels = &profile->labels.items[row->labels];

	return profile->details.items[labels->detail].values[DETAIL_TIME] / judging->quantum_ns;
}

/* Finds first and count; they stay 0 where times are not known, or not of all samples. */
static void find_range(const struct judging *judging, u32 source, struct slices *slices)
{
	const struct fold *fold = judging->comparison->fold;
	u64 first = UINT64_MAX, last = 0;

	if (fold->profile->sources.items[source].is_counted)
		return;
	for (size_t i = 0; i < fold->rows.count; i++) {
		u64 slice;

		if (fold->rows.items[i].source != source)
			continue;
		slice = slice_of(judging, &fold->rows.items[i]);
		if (slice < first)
			first = slice;
		if (slice > last)
			last = slice;
	}
	if (last <= first || last - first > CHANGES_SLICES_MAX * 2ULL)
		return;
	slices->first = first;
	slices->count = (u32)(last - first + 1);
}

/* One run's rows on their way into slices. */
struct slicing {
	const struct judging *judging;
	const struct entry_list *list;
	const u32 *entry_of; /* of the comparison, by entry of the list */
	struct slices *slices;
	frame_id *frames; /* of the row's stack */
	u32 *counted;	  /* by entry of the list: the last row that counted there, from 1 */
};

/* Counts a row in its slice for the entry of a frame, once for each row. */
static void count_slice(struct slicing *slicing, u32 row_number, frame_id frame, u32 slice)
{
	const struct folded_row *row = &slicing->list->fold->rows.items[row_number];
	u32 entry = entry_index_find(slicing->list->index, row, frame) - 1;
	struct slices *slices = slicing->slices;
	u32 at;

	if (entry == ~0u || slicing->counted[entry] == row_number + 1)
		return;
	slicing->counted[entry] = row_number + 1;
	at = slicing->judging->place_of[slicing->entry_of[entry]];
	if (at)
		slices->parts[(size_t)(at - 1) * slices->count + slice] += (u32)row->samples;
}

static void count_row(struct slicing *slicing, u32 row_number)
{
	const struct entry_list *list = slicing->list;
	const struct folded_row *row = &list->fold->rows.items[row_number];
	u32 slice = (u32)(slice_of(slicing->judging, row) - slicing->slices->first);
	u32 count = 0;

	slicing->slices->whole[slice] += (u32)row->samples;
	count_slice(slicing, row_number, row->leaf, slice);
	if (list->settings.has_children)
		count = entry_list_frames(list, row_number, slicing->frames);
	for (u32 i = 0; i < count; i++)
		count_slice(slicing, row_number, slicing->frames[i], slice);
}

static void count_slices(const struct judging *judging, u32 run, struct slices *slices)
{
	const struct comparison *comparison = judging->comparison;
	const struct fold *fold = comparison->fold;
	const struct entry_list *list = comparison->lists[run];
	struct slicing slicing = {
		.judging = judging,
		.list = list,
		.entry_of = comparison->entry_of[run],
		.slices = slices,
		.frames = must_alloc_array(fold->deepest, sizeof(frame_id)),
		.counted = must_alloc_array(list->entries.count, sizeof(u32)),
	};

	for (u32 i = 0; i < fold->rows.count; i++)
		if (fold->rows.items[i].source == list->settings.source)
			count_row(&slicing, i);
	free(slicing.frames);
	free(slicing.counted);
}

static void add_slices(struct judging *judging, u32 run)
{
	const struct comparison *comparison = judging->comparison;
	struct slices slices = {0};

	find_range(judging, comparison->settings.runs[run].source, &slices);
	if (!slices.count)
		return;
	judging->seconds[run] = (double)slices.count * (double)judging->quantum_ns / ns_per_s;
	slices.whole = must_alloc_array(slices.count, sizeof(u32));
	slices.parts = must_alloc_array((size_t)judging->place_count * slices.count, sizeof(u32));
	count_slices(judging, run, &slices);
	for (u32 i = 0; i < judging->place_count; i++)
		dispersion_add(&judging->dispersions[i], &slices.parts[(size_t)i * slices.count],
			       slices.whole, slices.count);
	free(slices.whole);
	free(slices.parts);
}

/* --- what was counted --- */

static void gather(struct judging *judging)
{
	const struct comparison *comparison = judging->comparison;
	u32 run_count = comparison->settings.run_count;

	for (u32 run = 0; run < run_count; run++)
		judging->totals[run] = (struct sampled){
			.weight = (double)comparison->run_totals[run].period,
			.samples = (double)comparison->run_totals[run].samples,
		};
	for (size_t i = 0; i < comparison->sorted_count; i++) {
		u32 entry = comparison->sorted[i];
		u64 samples = 0;

		for (u32 run = 0; run < run_count; run++) {
			const struct compared_value *value = comparison_run_value(comparison, entry,
										  run);

			judging->parts[(size_t)entry * run_count + run] = (struct sampled){
				.weight = (double)value->period,
				.samples = (double)value->samples,
			};
			samples += value->samples;
		}
		if (samples >= LEAST_SAMPLES)
			judging->place_of[entry] = ++judging->place_count;
	}
	judging->dispersions = must_alloc_array(judging->place_count, sizeof(struct dispersion));
	for (u32 run = 0; run < run_count && judging->quantum_ns; run++)
		if (comparison->lists[run])
			add_slices(judging, run);
}

/* --- asking --- */

/* The runs of two sides behind one another, of totals, parts and seconds alike. */
struct asked {
	struct significance_settings settings;
	u32 *runs; /* rows of the comparison's runs */
	u32 run_count;
	struct sampled *totals, *parts; /* parts: by question, by run */
	double *seconds;
	struct significance_question *questions;
	u32 *entries; /* by question */
	size_t count;
};

static void choose_runs(const struct judging *judging, u32 side, struct asked *asked)
{
	const struct comparison_settings *settings = &judging->comparison->settings;

	for (u32 run = 0; run < settings->run_count; run++) {
		if (!comparison_asks_run(judging->comparison, run, side))
			continue;
		asked->totals[asked->run_count] = judging->totals[run];
		asked->seconds[asked->run_count] = judging->seconds[run];
		asked->runs[asked->run_count++] = run;
		if (settings->runs[run].side == 0)
			asked->settings.before_count++;
		else
			asked->settings.after_count++;
	}
}

static void ask_about(const struct judging *judging, u32 entry, struct asked *asked)
{
	const struct comparison *comparison = judging->comparison;
	const struct entry_list *list;
	const struct entry *shown = comparison_shown(comparison, entry, &list);
	struct sampled *parts = &asked->parts[asked->count * asked->run_count];
	u32 place = judging->place_of[entry];
	double samples = 0;

	for (u32 i = 0; i < asked->run_count; i++) {
		parts[i] = judging->parts[(size_t)entry * comparison->settings.run_count +
					  asked->runs[i]];
		samples += parts[i].samples;
	}
	if (!(samples > 0))
		return;
	asked->entries[asked->count] = entry;
	asked->questions[asked->count++] = (struct significance_question){
		.parts = parts,
		.dispersion = place ? dispersion_factor(&judging->dispersions[place - 1])
				    : (struct dispersion_factor){0},
		.is_kernel = shown->level == 'k',
	};
}

/* What all lines show together of bursts. */
static double pool_dispersion(const struct asked *asked)
{
	double sum = 0, pairs = 0;

	for (size_t i = 0; i < asked->count; i++) {
		sum += asked->questions[i].dispersion.factor * asked->questions[i].dispersion.pairs;
		pairs += asked->questions[i].dispersion.pairs;
	}
	return sum > pairs ? sum / pairs : 1;
}

static u64 sum_samples(const struct asked *asked, u32 first, u32 count)
{
	double sum = 0;

	for (u32 i = first; i < first + count; i++)
		sum += asked->totals[i].samples;
	return (u64)sum;
}

static void judge(const struct judging *judging, u32 side, struct asked *asked)
{
	struct changes *changes = judging->changes;
	struct changes_side *told = &changes->sides[side];
	CLEANUP(freep) struct change *rows = must_alloc_array(asked->count, sizeof(*rows));

	changes->dispersion = pool_dispersion(asked);
	told->tested = significance_judge(&asked->settings, asked->questions, asked->count, rows);
	told->before_samples = sum_samples(asked, 0, asked->settings.before_count);
	told->after_samples = sum_samples(asked, asked->settings.before_count,
					  asked->settings.after_count);
	if (told->before_samples && told->after_samples) {
		told->smallest_of_1 = significance_smallest(&asked->settings, 0.01, told->tested);
		told->smallest_of_10 = significance_smallest(&asked->settings, 0.1, told->tested);
	}
	for (size_t i = 0; i < asked->count; i++) {
		changes->rows[(size_t)asked->entries[i] * changes->side_count + side] = rows[i];
		told->beyond += rows[i].verdict == BEYOND_CHANCE;
		told->too_few += rows[i].verdict == TOO_FEW_SAMPLES;
	}
}

static void judge_side(const struct judging *judging, u32 side)
{
	const struct comparison *comparison = judging->comparison;
	u32 run_count = comparison->settings.run_count;
	size_t shown = comparison->sorted_count;
	struct asked asked = {
		.runs = must_alloc_array(run_count, sizeof(u32)),
		.totals = must_alloc_array(run_count, sizeof(struct sampled)),
		.parts = must_alloc_array(shown * run_count, sizeof(struct sampled)),
		.seconds = must_alloc_array(run_count, sizeof(double)),
		.questions = must_alloc_array(shown, sizeof(struct significance_question)),
		.entries = must_alloc_array(shown, sizeof(u32)),
	};

	asked.settings.alpha = judging->changes->alpha;
	asked.settings.totals = asked.totals;
	asked.settings.seconds = asked.seconds;
	choose_runs(judging, side, &asked);
	for (size_t i = 0; i < shown; i++)
		ask_about(judging, comparison->sorted[i], &asked);
	judge(judging, side, &asked);
	free(asked.runs);
	free(asked.totals);
	free(asked.parts);
	free(asked.seconds);
	free(asked.questions);
	free(asked.entries);
}

struct changes *changes_new(const struct comparison *comparison, double alpha, u64 quantum_ns)
{
	const struct comparison_settings *settings = &comparison->settings;
	size_t entries = comparison->entries.count;
	struct changes *changes = must_alloc(sizeof(*changes));
	struct judging judging = {
		.comparison = comparison,
		.changes = changes,
		.quantum_ns = quantum_ns,
		.seconds = must_alloc_array(settings->run_count, sizeof(double)),
		.parts = must_alloc_array(entries * settings->run_count, sizeof(struct sampled)),
		.totals = must_alloc_array(settings->run_count, sizeof(struct sampled)),
		.place_of = must_alloc_array(entries, sizeof(u32)),
	};

	*changes = (struct changes){
		.alpha = alpha,
		.dispersion = 1,
		.side_count = settings->side_count,
		.rows = must_alloc_array(entries * settings->side_count, sizeof(struct change)),
		.sides = must_alloc_array(settings->side_count, sizeof(struct changes_side)),
		.comparison = comparison,
	};
	for (size_t i = 0; i < entries * settings->side_count; i++)
		changes->rows[i].p = changes->rows[i].adjusted_p = 1;
	gather(&judging);
	for (u32 side = 1; side < settings->side_count; side++)
		judge_side(&judging, side);
	for (u32 i = 0; i < judging.place_count; i++)
		dispersion_release(&judging.dispersions[i]);
	free(judging.dispersions);
	free(judging.seconds);
	free(judging.parts);
	free(judging.totals);
	free(judging.place_of);
	return changes;
}

void changes_free(struct changes *changes)
{
	if (!changes)
		return;
	free(changes->rows);
	free(changes->sides);
	free(changes);
}

void changes_freep(struct changes **changes)
{
	changes_free(*changes);
}

bool changes_is_marked(const struct changes *changes, u32 entry)
{
	for (u32 side = 1; side < changes->side_count; side++)
		if (changes_of(changes, entry, side)->verdict == BEYOND_CHANCE)
			return true;
	return false;
}
