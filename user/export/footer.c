/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples, losses and gaps in sentences: a figure without its losses would be half the truth.
 */
#include "export/footer.h"

#include "export/branch_kinds.h"

#include "base/number.h"
#include "base/text.h"
#include "bpfprof/counters.h"
#include "export/lbr_stacks.h"
#include "export/stacks.h"

#include <string.h>

enum { BINARIES_SHOWN = 5 };

static const char *const unnamed_sentences[UNNAMED_REASON_COUNT] = {
	[UNNAMED_NOT] = "not looked for",
	[UNNAMED_NO_SYMBOLS] = "no symbol covers them",
	[UNNAMED_NO_FILE] = "the file is gone or cannot be read",
	[UNNAMED_REPLACED] = "replaced since recording",
	[UNNAMED_NO_MAPPING] = "no mapping covers them",
	[UNNAMED_NOT_ELF] = "not a readable ELF file",
	[UNNAMED_KERNEL_HIDDEN] =
		("kernel addresses are hidden or of another kernel; run as root on the machine "
		 "recorded, or give --kallsyms"),
	[UNNAMED_NO_JIT_MAP] = "JIT code without /tmp/perf-PID.map",
};

static u64 lost_for(const struct report_facts *facts, u32 counter)
{
	return facts->losses ? facts->losses[counter] : facts->profile->totals.losses[counter];
}

u64 report_lost_samples(const struct report_facts *facts)
{
	u64 lost = 0;

	for (u32 i = 0; i < COUNTER_COUNT; i++)
		if (counter_rows[i].kind == LOST)
			lost += lost_for(facts, i);
	return lost;
}

static void write_counters(const struct report_facts *facts, enum counter_kind kind,
			   const char *verb, FILE *out)
{
	char text[NUMBER_TEXT_BYTES];

	for (u32 i = 0; i < COUNTER_COUNT; i++)
		if (counter_rows[i].kind == kind && lost_for(facts, i))
			fprintf(out, "#   %s %s: %s\n",
				number_format_count(lost_for(facts, i), text),
				kind == OTHER && lost_for(facts, i) == 1 ? "time" : verb,
				counter_rows[i].sentence);
}

static void write_samples(const struct report_facts *facts, FILE *out)
{
	const struct profile_totals *totals = &facts->profile->totals;
	u64 lost = report_lost_samples(facts);
	char samples[NUMBER_TEXT_BYTES], seen[NUMBER_TEXT_BYTES], gone[NUMBER_TEXT_BYTES];

	fprintf(out, "# %s samples", number_format_count(totals->samples, samples));
	if (facts->losses && facts->losses[COUNTER_overflows])
		fprintf(out, " of %s seen",
			number_format_count(facts->losses[COUNTER_overflows], seen));
	fprintf(out, "; %s lost", number_format_count(lost, gone));
	if (lost)
		fprintf(out, " (%.2f%%)", 100.0 * (double)lost / (double)(lost + totals->samples));
	fputc('\n', out);
	write_counters(facts, LOST, "lost", out);
	write_counters(facts, SKIPPED, "left out", out);
	write_counters(facts, OTHER, "times", out);
}

/* --- frames without a name --- */

struct unnamed {
	binary_id binary;
	u8 reason;
	u64 frames;
};

static int compare_unnamed(const void *left, const void *right)
{
	const struct unnamed *a = left, *b = right;

	if (a->frames != b->frames)
		return a->frames < b->frames ? 1 : -1;
	return a->binary < b->binary ? -1 : a->binary > b->binary;
}

static u8 reason_of(const struct profile *profile, const struct location_row *location)
{
	if (location->unnamed)
		return location->unnamed;
	return location->binary ? profile->binaries.items[location->binary].unnamed
				: UNNAMED_NO_MAPPING;
}

/* Frames without a name by (binary, reason), most first, owned by the caller. */
static struct unnamed *find_unnamed(const struct profile *profile, size_t *ret_count)
{
	size_t pairs = profile->binaries.count * UNNAMED_REASON_COUNT;
	struct unnamed *found = must_alloc_array(pairs, sizeof(*found));
	size_t count = 0;

	for (size_t i = 1; i < profile->locations.count; i++) {
		const struct location_row *location = &profile->locations.items[i];
		u8 reason = reason_of(profile, location);

		if (!location->line_count && !location->seen_at && reason < UNNAMED_REASON_COUNT)
			found[location->binary * UNNAMED_REASON_COUNT + reason].frames++;
	}
	for (size_t i = 0; i < pairs; i++) {
		if (!found[i].frames)
			continue;
		found[count++] = (struct unnamed){
			.binary = (binary_id)(i / UNNAMED_REASON_COUNT),
			.reason = (u8)(i % UNNAMED_REASON_COUNT),
			.frames = found[i].frames,
		};
	}
	qsort(found, count, sizeof(*found), compare_unnamed);
	*ret_count = count;
	return found;
}

/* How many addresses have no name but where their function begins. */
static u64 count_anonymous(const struct profile *profile)
{
	u64 count = 0;

	for (size_t i = 1; i < profile->locations.count; i++) {
		const struct location_row *location = &profile->locations.items[i];
		function_id function = profile_outer_function(profile, (location_id)i);

		if (!location->seen_at)
			count += profile->functions.items[function].is_anonymous;
	}
	return count;
}

static void write_anonymous(const struct profile *profile, FILE *out)
{
	u64 count = count_anonymous(profile);
	char text[NUMBER_TEXT_BYTES], all[NUMBER_TEXT_BYTES];

	if (count)
		fprintf(out,
			"# %s of %s distinct addresses in functions without symbol: "
			"[fn ADDRESS] is where one begins\n",
			number_format_count(count, text),
			number_format_count(profile_addresses(profile), all));
}

static void write_unnamed(const struct profile *profile, FILE *out)
{
	CLEANUP(freep) struct unnamed *found = NULL;
	char text[NUMBER_TEXT_BYTES], all[NUMBER_TEXT_BYTES];
	u64 frames = 0, rest = 0;
	size_t count;

	found = find_unnamed(profile, &count);
	write_anonymous(profile, out);
	for (size_t i = 0; i < count; i++)
		frames += found[i].frames;
	if (!frames)
		return;
	fprintf(out, "# %s of %s distinct addresses unnamed\n", number_format_count(frames, text),
		number_format_count(profile_addresses(profile), all));
	for (size_t i = 0; i < count; i++) {
		struct text path = {0};

		if (i >= BINARIES_SHOWN) {
			rest += found[i].frames;
			continue;
		}
		text_append_printable(
			&path,
			profile_text(profile, profile->binaries.items[found[i].binary].path));
		fprintf(out, "#   %s unnamed: %s%s%s\n", number_format_count(found[i].frames, text),
			found[i].binary ? text_view(&path) : "", found[i].binary ? ": " : "",
			unnamed_sentences[found[i].reason]);
		text_release(&path);
	}
	if (rest)
		fprintf(out, "#   %s unnamed in %zu other binaries\n",
			number_format_count(rest, text), count - BINARIES_SHOWN);
}

void report_write_branches(const struct report_facts *facts, FILE *out)
{
	branch_kinds_write(&facts->profile->totals.branches, out);
}

void report_write_footer(const struct report_facts *facts, FILE *out)
{
	fputs("#\n", out);
	write_samples(facts, out);
	stacks_write(facts->profile, out);
	if (facts->lbr)
		lbr_stacks_write(facts, out);
	write_unnamed(facts->profile, out);
	if (facts->fetching)
		fprintf(out,
			"# %zu debug file%s being fetched (DEBUGINFOD_URLS): run this again in a "
			"while\n",
			facts->fetching, facts->fetching == 1 ? " is" : "s are");
	if (facts->fetchable)
		fprintf(out,
			"# %zu debug file%s could be fetched (DEBUGINFOD_URLS): install "
			"libdebuginfod1\n",
			facts->fetchable, facts->fetchable == 1 ? "" : "s");
	fputs("#\n", out);
}

/* --- JSON --- */

static void write_counters_json(const struct report_facts *facts, enum counter_kind kind,
				const char *name, struct json_writer *json)
{
	json_object(json, name);
	for (u32 i = 0; i < COUNTER_COUNT; i++)
		if (counter_rows[i].kind == kind && lost_for(facts, i))
			json_u64(json, counter_rows[i].name, lost_for(facts, i));
	json_object_end(json);
}

static void write_unnamed_json(const struct profile *profile, struct json_writer *json)
{
	CLEANUP(freep) struct unnamed *found = NULL;
	size_t count;

	found = find_unnamed(profile, &count);
	json_array(json, "unnamed_frames");
	for (size_t i = 0; i < count; i++) {
		const struct binary_row *binary = &profile->binaries.items[found[i].binary];

		json_object(json, NULL);
		json_text(json, "binary", profile_text(profile, binary->path));
		json_u64(json, "frames", found[i].frames);
		json_text(json, "reason", unnamed_sentences[found[i].reason]);
		json_object_end(json);
	}
	json_array_end(json);
}

void report_write_footer_json(const struct report_facts *facts, struct json_writer *json)
{
	const struct profile_totals *totals = &facts->profile->totals;

	json_object(json, "recording");
	json_u64(json, "samples", totals->samples);
	if (facts->losses && facts->losses[COUNTER_overflows])
		json_u64(json, "events_seen", facts->losses[COUNTER_overflows]);
	json_u64(json, "samples_lost", report_lost_samples(facts));
	write_counters_json(facts, LOST, "lost", json);
	write_counters_json(facts, SKIPPED, "left_out", json);
	write_counters_json(facts, OTHER, "other", json);
	json_bool(json, "idle_left_out", facts->idle_skipped);
	stacks_write_json(facts->profile, json);
	if (facts->lbr)
		lbr_stacks_write_json(facts, json);
	json_u64(json, "frames", profile_addresses(facts->profile));
	json_u64(json, "frames_without_symbol", count_anonymous(facts->profile));
	json_u64(json, "debug_files_fetching", facts->fetching);
	write_unnamed_json(facts->profile, json);
	branch_kinds_write_json(&facts->profile->totals.branches, json);
	json_object_end(json);
}
