/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Patterns over the stacks of folded rows. Each frame is matched once.
 */
#include "profile/callers.h"

/* By frame_id, owned by the caller: whether a function's name matches. */
static bool *match_frames(const struct fold *fold, const regex_t *pattern)
{
	bool *matches = must_alloc_array(fold->frames.count, sizeof(*matches));

	for (frame_id id = 1; id < fold->frames.count; id++)
		matches[id] = fold->frames.items[id].function &&
			      !regexec(pattern, fold_frame_name(fold, id), 0, NULL, 0);
	return matches;
}

/* The first frame that matches; 0: none. */
static frame_id first_match(const struct fold *fold, path_id path, const bool *matches,
			    enum chain_order order, u32 max_stack)
{
	const struct folded_path *paths = fold->paths.items;
	u32 depth = paths[path].depth;
	u32 skipped = 0, found_at = 0;
	frame_id found = 0;

	/* With callers first, what is beyond max_stack is the inner part. */
	if (order == CALLER_FIRST && max_stack && depth > max_stack)
		skipped = depth - max_stack;
	for (u32 at = 0; path; path = paths[path].caller, at++) {
		if (at < skipped || !matches[paths[path].frame])
			continue;
		found = paths[path].frame;
		found_at = at;
		if (order == CALLEE_FIRST)
			break;
	}
	return order == CALLEE_FIRST && max_stack && found_at >= max_stack ? 0 : found;
}

static label_id label_with_parent(struct profile *profile, label_id labels, string_id parent)
{
	struct label_row row = profile->labels.items[labels];
	struct detail_row details = profile->details.items[row.detail];

	details.values[DETAIL_PARENT] = parent;
	row.detail = profile_details(profile, &details);
	return profile_labels(profile, &row);
}

void callers_set_parents(struct fold *fold, struct profile *profile, const regex_t *pattern,
			 enum chain_order order, u32 max_stack)
{
	bool *matches = match_frames(fold, pattern);

	for (size_t i = 0; i < fold->rows.count; i++) {
		struct folded_row *row = &fold->rows.items[i];
		frame_id parent = first_match(fold, row->path, matches, order, max_stack);
		function_id function = fold->frames.items[parent].function;

		if (parent)
			row->labels = label_with_parent(profile, row->labels,
							profile->functions.items[function].name);
	}
	free(matches);
}

void callers_ignore_callees(struct fold *fold, const regex_t *pattern)
{
	bool *matches = match_frames(fold, pattern);

	for (size_t i = 0; i < fold->rows.count; i++) {
		struct folded_row *row = &fold->rows.items[i];

		for (path_id path = row->path; path; path = fold->paths.items[path].caller) {
			frame_id frame = fold->paths.items[path].frame;

			if (!matches[frame])
				continue;
			row->path = path;
			row->leaf = frame;
			row->space = fold->frames.items[frame].space;
		}
	}
	free(matches);
}

static bool is_named(const struct fold *fold, frame_id frame)
{
	return fold->frames.items[frame].function != 0;
}

void callers_hide_unnamed(struct fold *fold)
{
	struct folded_path *paths = fold->paths.items;
	path_id *named = must_alloc_array(fold->paths.count, sizeof(*named));
	size_t kept = 0;

	/* Callers stand before what they call. */
	for (path_id id = 1; id < fold->paths.count; id++) {
		path_id caller = named[paths[id].caller];

		named[id] = is_named(fold, paths[id].frame) ? id : caller;
		paths[id].caller = caller;
		paths[id].depth = paths[caller].depth + 1;
	}
	for (size_t i = 0; i < fold->rows.count; i++) {
		struct folded_row row = fold->rows.items[i];

		row.path = named[row.path];
		if (is_named(fold, row.leaf))
			fold->rows.items[kept++] = row;
	}
	fold->rows.count = kept;
	free(named);
}
