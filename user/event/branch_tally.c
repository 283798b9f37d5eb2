/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kinds of branches, as the bits of an entry's flags say them.
 *
 * Source: include/uapi/linux/perf_event.h, struct perf_branch_entry; tools/perf/util/branch.c of
 * Linux 6.1 for what is counted.
 */
#include "event/branch_tally.h"

enum {
	TYPE_SHIFT = 20,
	NEW_TYPE_SHIFT = 26,
	TYPE_MASK = 15,
	TYPE_CONDITIONAL = 1,
	TYPE_EXTENDED = 15, /* new_type says it */
};

/* As perf writes them. */
static const char *const types[BRANCH_TYPES] = {
	"",	  "COND",      "UNCOND",   "IND",  "CALL", "IND_CALL", "RET",	"SYSCALL",
	"SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",  "SERROR",   "NO_TX",
};

static const char *const new_types[BRANCH_NEW_TYPES] = {
	"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5",
};

static u32 type_of(u64 flags)
{
	return flags >> TYPE_SHIFT & TYPE_MASK;
}

static u32 new_type_of(u64 flags)
{
	return flags >> NEW_TYPE_SHIFT & TYPE_MASK;
}

static bool crosses(const struct branch *branch, u32 page_shift)
{
	return branch->from >> page_shift != branch->to >> page_shift;
}

static void add(struct branch_tally *tally, const struct branch *branch)
{
	enum { SHIFT_4K = 12, SHIFT_2M = 21 };
	u32 type = type_of(branch->flags), new_type = new_type_of(branch->flags);

	if (!type || !branch->from)
		return;
	if (type != TYPE_EXTENDED)
		tally->types[type]++;
	else if (new_type < BRANCH_NEW_TYPES)
		tally->new_types[new_type]++;
	if (type == TYPE_CONDITIONAL && branch->to > branch->from)
		tally->forward++;
	else if (type == TYPE_CONDITIONAL)
		tally->backward++;
	if (crosses(branch, SHIFT_2M))
		tally->cross_2m++;
	else if (crosses(branch, SHIFT_4K))
		tally->cross_4k++;
}

void branch_tally_add(struct branch_tally *tally, const struct branch *branches, u32 count)
{
	for (u32 i = 0; i < count; i++)
		add(tally, &branches[i]);
}

u64 branch_tally_count(const struct branch_tally *tally)
{
	u64 count = 0;

	for (u32 i = 0; i < BRANCH_TYPES; i++)
		count += tally->types[i];
	return count;
}

const char *branch_tally_word(u32 type)
{
	return types[type];
}

const char *branch_tally_new_word(u32 type)
{
	return new_types[type];
}

const char *branch_type_word(u64 flags)
{
	u32 type = type_of(flags), new_type = new_type_of(flags);

	if (type == TYPE_EXTENDED)
		return new_type < BRANCH_NEW_TYPES ? new_types[new_type] : "";
	return types[type];
}
