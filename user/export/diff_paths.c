/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A tree of call paths: figures as in the table of a diff, and names that stand the further right
 * the deeper they are.
 */
#include "export/diff_paths.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>

struct tree {
	const struct diff_view *view;
	const struct text_style *style;
	const struct path_changes *paths;
};

const char *diff_path_name(const struct fold *fold, frame_id frame)
{
	return fold->frames.items[frame].function ? fold_frame_name(fold, frame) : "[unknown]";
}

const char *diff_path_dso(const struct fold *fold, frame_id frame)
{
	const struct profile *profile = fold->profile;
	binary_id binary = fold->frames.items[frame].binary;
	const char *dso = profile_text(profile, profile->binaries.items[binary].short_name);

	return *dso ? dso : "[unknown]";
}

static void append_name(const struct tree *tree, struct text *line, frame_id frame)
{
	const struct fold *fold = tree->view->comparison->fold;

	text_append_printable(line, diff_path_name(fold, frame));
	if (!fold->frames.items[frame].function || tree->style->separator) {
		text_append(line, " ");
		text_append_printable(line, diff_path_dso(fold, frame));
	}
}

static void write_node(const struct tree *tree, u32 node, struct text *line)
{
	static const char marks[] = {
		[TOO_FEW_SAMPLES] = '?', [WITHIN_CHANCE] = ' ', [BEYOND_CHANCE] = '*'};
	const struct path_node *row = &tree->paths->nodes.items[node];
	const struct change *change = &row->change;

	text_truncate(line, 0);
	text_appendf(line, "  %7.2f%%  %+8.2f%%  %5.2f%%  %c  ", change->before * 100,
		     (change->after - change->before) * 100, (change->high - change->low) * 50,
		     marks[change->verdict]);
	text_append_padded(line, NULL, 2 * (row->depth - 1));
	append_name(tree, line, row->frame);
	text_append(line, "\n");
	fwrite(text_view(line), 1, line->length, tree->style->out);
}

static void write_below(const struct tree *tree, u32 node, struct text *line)
{
	const struct path_node *row = &tree->paths->nodes.items[node];

	for (u32 i = 0; i < row->child_count; i++) {
		u32 child = tree->paths->children[row->first_child + i];

		if (!tree->paths->nodes.items[child].is_shown)
			continue;
		write_node(tree, child, line);
		write_below(tree, child, line);
	}
}

static void write_titles(const struct diff_view *view, u32 side, double least, FILE *out)
{
	struct text name = {0};

	text_append_printable(&name, view->source->name);
	fprintf(out, "%s# Call paths of event '%s'", view->is_first && side == 1 ? "" : "\n",
		text_view(&name));
	if (view->comparison->settings.side_count > 2)
		fprintf(out, ", side %" PRIu32, side);
	fputs(": what changed ", out);
	if (!view->only_marked)
		fprintf(out, "by %g points or more, or ", least);
	fputs("beyond chance (*)\n#\n"
	      "# Baseline      Delta     +/-  *  Call path\n"
	      "# ........  .........  ......  .  .........\n#\n",
	      out);
	text_release(&name);
}

struct path_changes *diff_paths_of(const struct diff_view *view, u32 side, double least)
{
	if (!view->comparison->side_totals[side].is_there)
		return NULL;
	return path_changes_new(view->changes, side, view->only_marked ? INFINITY : least / 100);
}

void diff_write_paths(const struct diff_view *view, const struct text_style *style, double least)
{
	struct text line = {0};

	for (u32 side = 1; side < view->comparison->settings.side_count; side++) {
		CLEANUP(path_changes_freep)
		struct path_changes *paths = diff_paths_of(view, side, least);
		struct tree tree = {.view = view, .style = style, .paths = paths};

		if (!paths)
			continue;
		if (!style->is_quiet)
			write_titles(view, side, least, style->out);
		write_below(&tree, 0, &line);
	}
	text_release(&line);
}
