/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ends of stacks: their numbers, words, and what other folders call them.
 */
#include "lbr/tally.h"

u8 lbr_cut_of(u8 end)
{
	static const u8 cuts[LBR_END_COUNT] = {
		[LBR_END_WHOLE] = CUT_COMPLETE,	     [LBR_END_OVERWRITTEN] = CUT_OVERWRITTEN,
		[LBR_END_CONTRADICTED] = CUT_BROKEN, [LBR_END_SIGNAL] = CUT_BROKEN,
		[LBR_END_SEVERAL] = CUT_OVERWRITTEN, [LBR_END_UNSEEN] = CUT_OVERWRITTEN,
		[LBR_END_EMPTY] = CUT_OVERWRITTEN,
	};

	return cuts[end];
}

void lbr_tally_add(struct lbr_tally *tally, const struct outcome *outcome, bool is_plain)
{
	bool is_whole = outcome->end == LBR_END_WHOLE;

	if (!outcome->is_stack)
		return;
	tally->stacks++;
	if (is_plain)
		return;
	tally->ends[outcome->end]++;
	tally->likely += outcome->is_likely;
	if (outcome->by_hardware) {
		tally->whole_by_hardware++;
		return;
	}
	tally->cut_by_hardware++;
	tally->became_whole += is_whole;
	tally->became_longer += !is_whole && outcome->count > outcome->entry_count;
	tally->shortened += !is_whole && outcome->count < outcome->entry_count;
}

void lbr_tally_sum(struct lbr_tally *tally, const struct lbr_tally *more)
{
	tally->stacks += more->stacks;
	tally->whole_by_hardware += more->whole_by_hardware;
	tally->cut_by_hardware += more->cut_by_hardware;
	tally->became_whole += more->became_whole;
	tally->became_longer += more->became_longer;
	tally->shortened += more->shortened;
	tally->likely += more->likely;
	for (size_t i = 0; i < LBR_END_COUNT; i++)
		tally->ends[i] += more->ends[i];
	/* Mostly the same ones. */
	if (tally->binaries_missing < more->binaries_missing)
		tally->binaries_missing = more->binaries_missing;
}

const char *lbr_end_words(u8 end)
{
#define LBR_END_AS_WORDS(name, key, sentence) sentence,
	static const char *const words[] = {LBR_ENDS(LBR_END_AS_WORDS)};

	return end < LBR_END_COUNT ? words[end] : words[LBR_END_OVERWRITTEN];
}
