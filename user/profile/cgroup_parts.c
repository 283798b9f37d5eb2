/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each label row is looked at once.
 */
#include "profile/cgroup_parts.h"

static struct cgroup_parts parts_of_id(const struct profile *profile, u64 id,
				       cgroup_parts_of *parts_of, void *context)
{
	static const struct cgroup_parts unknown = {"unknown", "unknown"};
	const char *path = profile_cgroup(profile, id);

	return path ? parts_of(context, path) : unknown;
}

static label_id label_with_parts(struct profile *profile, label_id labels,
				 struct cgroup_parts parts)
{
	struct label_row row = profile->labels.items[labels];
	struct detail_row details = profile->details.items[row.detail];

	if (*parts.container)
		details.values[DETAIL_CONTAINER] = intern_text(&profile->strings, parts.container);
	if (*parts.unit)
		details.values[DETAIL_UNIT] = intern_text(&profile->strings, parts.unit);
	row.detail = profile_details(profile, &details);
	return profile_labels(profile, &row);
}

void cgroup_parts_set(struct fold *fold, struct profile *profile, cgroup_parts_of *parts_of,
		      void *context)
{
	label_id *known = must_alloc_array(profile->labels.count, sizeof(*known));

	for (size_t i = 0; i < fold->rows.count; i++) {
		struct folded_row *row = &fold->rows.items[i];
		label_id *labels = &known[row->labels];

		if (!*labels) {
			detail_id detail = profile->labels.items[row->labels].detail;
			u64 id = profile->details.items[detail].values[DETAIL_CGROUP];

			*labels = label_with_parts(profile, row->labels,
						   parts_of_id(profile, id, parts_of, context));
		}
		row->labels = *labels;
	}
	free(known);
}
