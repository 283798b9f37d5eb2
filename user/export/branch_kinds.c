/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kinds of branches, in perf's words and order.
 */
#include "export/branch_kinds.h"

struct kind {
	const char *name;
	u64 count;
};

enum { KINDS_MAX = 4 + BRANCH_TYPES + BRANCH_NEW_TYPES };

/* Those that there are. Returns how many. */
static u32 list_kinds(const struct branch_tally *tally, struct kind kinds[KINDS_MAX])
{
	const struct kind summed[] = {
		{"COND_FWD", tally->forward},
		{"COND_BWD", tally->backward},
		{"CROSS_4K", tally->cross_4k},
		{"CROSS_2M", tally->cross_2m},
	};
	u32 count = 0;

	for (size_t i = 0; i < ARRAY_COUNT(summed); i++)
		if (summed[i].count)
			kinds[count++] = summed[i];
	for (u32 i = 0; i < BRANCH_TYPES; i++)
		if (tally->types[i])
			kinds[count++] = (struct kind){branch_tally_word(i), tally->types[i]};
	for (u32 i = 0; i < BRANCH_NEW_TYPES; i++)
		if (tally->new_types[i])
			kinds[count++] = (struct kind){branch_tally_new_word(i),
						       tally->new_types[i]};
	return count;
}

void branch_kinds_write(const struct branch_tally *tally, FILE *out)
{
	u64 whole = branch_tally_count(tally);
	struct kind kinds[KINDS_MAX];
	u32 count = list_kinds(tally, kinds);

	if (!whole)
		return;
	fputs("\n#\n# Branch Statistics:\n#\n", out);
	for (u32 i = 0; i < count; i++)
		fprintf(out, "%8s: %5.1f%%\n", kinds[i].name,
			100.0 * (double)kinds[i].count / (double)whole);
}

void branch_kinds_write_json(const struct branch_tally *tally, struct json_writer *json)
{
	struct kind kinds[KINDS_MAX];
	u32 count = list_kinds(tally, kinds);

	if (!branch_tally_count(tally))
		return;
	json_object(json, "branch_types");
	for (u32 i = 0; i < count; i++)
		json_u64(json, kinds[i].name, kinds[i].count);
	json_object_end(json);
}
