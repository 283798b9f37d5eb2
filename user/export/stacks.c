/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many user stacks are whole, how they were walked, why and where the others ended.
 */
#include "export/stacks.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

/* The sentence is that of stacks that are not whole. */
static const struct {
	const char *name, *sentence;
} ends[STACK_ENDS] = {
	[CUT_UNKNOWN] = {"unknown", "whole or not: the kernel walked them and does not say"},
	[CUT_COMPLETE] = {"complete", NULL},
	[CUT_TOO_DEEP] = {"too_deep", "end early: deeper than --max-stack"},
	[CUT_UNREADABLE] = {"unreadable", "end early: stack memory was not resident"},
	[CUT_NO_TABLE] = {"no_table", "end early: code without unwind table"},
	[CUT_UNSUPPORTED] = {"unsupported", "end early: an unwind rule we cannot follow"},
	[CUT_NOT_ANALYSED] = {"not_analysed", "end early: code not analysed yet"},
	[CUT_BROKEN] = {"broken", "end early: what comes next is no frame"},
	[CUT_OVERWRITTEN] = {"overwritten", "end early: older calls were overwritten in the LBR"},
	[CUT_COPY_ENDS] = {"copy_ends", "end early: no more of the stack was copied"},
	[CUT_NO_FILE] = {"no_file", "end early: the binary is gone, or replaced since recording"},
	[CUT_32_BIT] = {"32_bit", "end early: code of 32 bits"},
	[CUT_NO_MAPPING] = {"no_mapping", "end early: no mapping of the code was recorded"},
};

/* In the order in which they are told; those without words are told by their end. */
static const struct {
	const char *name, *words;
	u8 walked;
} walks[] = {
	{"eh_frame", "eh_frame", WALK_EH_FRAME},
	{"frame_pointers", "frame pointers", WALK_FRAME_POINTER},
	{"both", "both", WALK_EH_FRAME | WALK_FRAME_POINTER},
	{"none", "none", 0},
	{"kernel", NULL, WALK_KERNEL},
	{"lbr", "LBR", WALK_LBR},
	{"lbr_frame_pointers", "LBR and frame pointers", WALK_LBR | WALK_FRAME_POINTER},
	{"lbr_eh_frame", "LBR and eh_frame", WALK_LBR | WALK_EH_FRAME},
	{"lbr_both", "LBR and both", WALK_LBR | WALK_EH_FRAME | WALK_FRAME_POINTER},
};

/* Rounded down: 100.00% is all of them. */
static double share(u64 part, u64 whole)
{
	u64 hundredths = part * 10000 / whole;

	return (double)hundredths / 100;
}

/* Whether frame pointers were all there was, as with --call-graph fp; the kernel goes by them. */
static bool is_by_frame_pointers(const struct stack_tally *stacks)
{
	return stacks->walks[WALK_FRAME_POINTER] + stacks->walks[WALK_KERNEL] ==
	       stack_tally_count(stacks);
}

static void write_walks(const struct stack_tally *stacks, FILE *out)
{
	u64 count = stack_tally_count(stacks);
	const char *before = "#   walked by ";

	for (size_t i = 0; i < ARRAY_COUNT(walks); i++) {
		u64 these = stacks->walks[walks[i].walked];

		if (!these || !walks[i].words)
			continue;
		fprintf(out, "%s%s %.2f%%", before, walks[i].words, share(these, count));
		before = ", ";
	}
	fputc('\n', out);
}

/* Where most stacks ended that way; NULL if it is not the code that kept them from going on. */
static const struct early_end_row *main_place(const struct profile *profile, u32 cut)
{
	const struct early_end_row *most = NULL;

	for (size_t i = 0; i < profile->early_ends.count; i++) {
		const struct early_end_row *row = &profile->early_ends.items[i];

		if (row->cut == cut && (!most || row->stacks > most->stacks))
			most = row;
	}
	return most;
}

/* ", 505 in python3" */
static void write_place(const struct profile *profile, u32 cut, FILE *out)
{
	const struct early_end_row *place = main_place(profile, cut);
	CLEANUP(text_release) struct text name = {0};
	char text[NUMBER_TEXT_BYTES];

	if (!place)
		return;
	text_append_printable(
		&name, profile_text(profile, profile->binaries.items[place->binary].short_name));
	fprintf(out, ", %s in %s",
		place->stacks == profile->totals.stacks.ends[cut]
			? "all"
			: number_format_count(place->stacks, text),
		text_view(&name));
}

static void write_ends(const struct profile *profile, FILE *out)
{
	const struct stack_tally *stacks = &profile->totals.stacks;
	char text[NUMBER_TEXT_BYTES];

	for (u32 cut = 0; cut < ARRAY_COUNT(ends); cut++) {
		const char *sentence = ends[cut].sentence;

		if (!sentence || !stacks->ends[cut])
			continue;
		if (cut == CUT_BROKEN && is_by_frame_pointers(stacks))
			sentence = "end at code without frame pointers (eh_frame gets through it)";
		fprintf(out, "#   %s %s", number_format_count(stacks->ends[cut], text), sentence);
		write_place(profile, cut, out);
		fputc('\n', out);
	}
}

void stacks_write(const struct profile *profile, FILE *out)
{
	const struct stack_tally *stacks = &profile->totals.stacks;
	u64 count = stack_tally_count(stacks), whole = stacks->ends[CUT_COMPLETE];
	char text[NUMBER_TEXT_BYTES];

	if (!count)
		return;
	fprintf(out, "# %s user stacks, ", number_format_count(count, text));
	if (is_by_frame_pointers(stacks)) {
		/* They rarely get through libc, so a share of whole ones would only alarm. */
		fputs("walked by frame pointers\n", out);
		if (whole)
			fprintf(out, "#   %s reach the thread's start\n",
				number_format_count(whole, text));
	} else {
		fprintf(out, "%.2f%% whole\n", share(whole, count));
		write_walks(stacks, out);
	}
	write_ends(profile, out);
}

static void write_places_json(const struct profile *profile, struct json_writer *json)
{
	json_array(json, "ended_in");
	for (size_t i = 0; i < profile->early_ends.count; i++) {
		const struct early_end_row *row = &profile->early_ends.items[i];
		const struct binary_row *binary = &profile->binaries.items[row->binary];

		json_object(json, NULL);
		json_text(json, "binary", profile_text(profile, binary->path));
		json_text(json, "end", ends[row->cut].name);
		json_u64(json, "stacks", row->stacks);
		json_object_end(json);
	}
	json_array_end(json);
}

void stacks_write_json(const struct profile *profile, struct json_writer *json)
{
	const struct stack_tally *stacks = &profile->totals.stacks;

	json_object(json, "user_stacks");
	json_u64(json, "count", stack_tally_count(stacks));
	json_object(json, "walked");
	for (size_t i = 0; i < ARRAY_COUNT(walks); i++)
		json_u64(json, walks[i].name, stacks->walks[walks[i].walked]);
	json_object_end(json);
	json_object(json, "ended");
	for (size_t i = 0; i < ARRAY_COUNT(ends); i++)
		if (ends[i].name)
			json_u64(json, ends[i].name, stacks->ends[i]);
	json_object_end(json);
	write_places_json(profile, json);
	json_object_end(json);
}
