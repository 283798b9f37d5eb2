/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many LBR call stacks are whole, by the hardware or by stitching, and why others are not.
 */
#include "export/lbr_stacks.h"

#include "base/number.h"

static void write_line(FILE *out, u64 count, const char *words)
{
	char text[NUMBER_TEXT_BYTES];

	if (count)
		fprintf(out, "#   %s %s\n", number_format_count(count, text), words);
}

static void write_ends(const struct lbr_tally *tally, FILE *out)
{
	char text[NUMBER_TEXT_BYTES];

	for (u32 end = 0; end < LBR_END_COUNT; end++)
		if (end != LBR_END_WHOLE && tally->ends[end])
			fprintf(out, "#   %s stay cut: %s\n",
				number_format_count(tally->ends[end], text),
				lbr_end_words((u8)end));
}

void lbr_stacks_write(const struct report_facts *facts, FILE *out)
{
	const struct lbr_tally *tally = facts->lbr;
	char stacks[NUMBER_TEXT_BYTES], cut[NUMBER_TEXT_BYTES], whole[NUMBER_TEXT_BYTES];

	fprintf(out, "# %s LBR call stacks", number_format_count(tally->stacks, stacks));
	if (!facts->lbr_is_stitched) {
		fputs(" as the hardware cut them; --stitch-lbr goes on from there\n", out);
		return;
	}
	fprintf(out, ", %s whole by hardware, %s cut by it\n",
		number_format_count(tally->whole_by_hardware, whole),
		number_format_count(tally->cut_by_hardware, cut));
	write_line(out, tally->became_whole, "became whole");
	write_line(out, tally->became_longer, "became longer, not whole");
	write_line(out, tally->shortened, "are shorter than recorded: the rest was contradicted");
	write_line(out, tally->likely, "have frames marked [likely]: not certain");
	write_ends(tally, out);
	write_line(out, tally->binaries_missing,
		   "binaries could not be read: calls in them were not checked");
}

void lbr_stacks_write_json(const struct report_facts *facts, struct json_writer *json)
{
#define LBR_END_AS_KEY(name, key, sentence) #key,
	static const char *const keys[] = {LBR_ENDS(LBR_END_AS_KEY)};
	const struct lbr_tally *tally = facts->lbr;

	json_object(json, "lbr_stacks");
	json_u64(json, "count", tally->stacks);
	json_bool(json, "stitched", facts->lbr_is_stitched);
	if (facts->lbr_is_stitched) {
		json_u64(json, "whole_by_hardware", tally->whole_by_hardware);
		json_u64(json, "cut_by_hardware", tally->cut_by_hardware);
		json_u64(json, "became_whole", tally->became_whole);
		json_u64(json, "became_longer", tally->became_longer);
		json_u64(json, "shortened", tally->shortened);
		json_u64(json, "likely", tally->likely);
		json_object(json, "ended");
		for (u32 end = 0; end < LBR_END_COUNT; end++)
			json_u64(json, keys[end], tally->ends[end]);
		json_object_end(json);
		json_u64(json, "binaries_missing", tally->binaries_missing);
	}
	json_object_end(json);
}
