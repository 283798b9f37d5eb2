/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Words for how user stacks were walked and why they ended, and their sums.
 */
#include "event/stack_tally.h"

#include "base/memory.h"
#include "event/sample.h"

bool stack_is_known(const struct sample *sample)
{
	return sample->cut != CUT_NONE && (sample->cut != CUT_UNKNOWN || sample->walked);
}

void stack_tally_add(struct stack_tally *tally, const struct sample *sample)
{
	if (!stack_is_known(sample))
		return;
	tally->ends[sample->cut % STACK_ENDS] += sample_count(sample);
	tally->walks[sample->walked % STACK_WALKS] += sample_count(sample);
}

u64 stack_tally_count(const struct stack_tally *tally)
{
	u64 count = 0;

	for (size_t i = 0; i < STACK_ENDS; i++)
		count += tally->ends[i];
	return count;
}

const char *stack_end_words(u8 cut)
{
	static const char *const words[] = {
		[CUT_UNKNOWN] = "end unknown",
		[CUT_COMPLETE] = "complete",
		[CUT_NONE] = "no user stack",
		[CUT_TOO_DEEP] = "too deep",
		[CUT_UNREADABLE] = "unreadable",
		[CUT_NO_TABLE] = "no table",
		[CUT_UNSUPPORTED] = "unsupported rule",
		[CUT_NOT_ANALYSED] = "not yet analysed",
		[CUT_BROKEN] = "broken",
		[CUT_OVERWRITTEN] = "overwritten",
		[CUT_COPY_ENDS] = "copy ends",
		[CUT_NO_FILE] = "no file",
		[CUT_32_BIT] = "32-bit code",
		[CUT_NO_MAPPING] = "no mapping",
	};

	return cut < ARRAY_COUNT(words) ? words[cut] : words[CUT_UNKNOWN];
}

const char *frame_origin_word(u8 origin)
{
	static const char *const words[ORIGIN_COUNT] = {
		[ORIGIN_FRAME_POINTER] = "frame pointer",
		[ORIGIN_EH_FRAME] = "eh_frame",
		[ORIGIN_LBR] = "LBR",
		[ORIGIN_STITCHED] = "stitched",
		[ORIGIN_LIKELY] = "likely",
	};

	return origin < ORIGIN_COUNT ? words[origin] : NULL;
}

const char *stack_walk_words(u8 walked)
{
	static const char *const words[] = {
		[0] = "none",
		[WALK_FRAME_POINTER] = "frame pointers",
		[WALK_EH_FRAME] = "eh_frame",
		[WALK_EH_FRAME | WALK_FRAME_POINTER] = "eh_frame and frame pointers",
		[WALK_KERNEL] = "kernel's walk",
		[WALK_LBR] = "LBR",
		[WALK_LBR | WALK_FRAME_POINTER] = "LBR and frame pointers",
		[WALK_LBR | WALK_EH_FRAME] = "LBR and eh_frame",
		[WALK_LBR | WALK_EH_FRAME |
			WALK_FRAME_POINTER] = "LBR, eh_frame and frame pointers",
		[WALK_LBR | WALK_KERNEL] = "LBR and kernel's walk",
	};

	return walked < ARRAY_COUNT(words) && words[walked] ? words[walked] : words[0];
}
