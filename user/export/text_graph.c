/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call graphs in perf's layouts: a drawn tree, chains one below the other, chains in one line.
 *
 * Source of the layout: output of perf 6.1; tools/perf/ui/stdio/hist.c for its corner cases.
 */
#include "export/text_graph.h"

#include "base/vec.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum { MARGIN = 12, STEP = 10, FLAT_VALUE_MARGIN = 11, FLAT_MARGIN = 16 };

struct drawing {
	struct text *text;
	const struct report_view *view;
	const struct text_style *style;
	const struct call_tree *tree;
	VEC(bool) bars; /* by level: a line goes on to a later sibling */
	u32 margin;
};

void text_append_percent(struct text *text, const struct text_style *style, const char *lead,
			 int width, double percent)
{
	const char *color = percent >= 5.0 ? "\033[31m" : percent > 0.5 ? "\033[32m" : NULL;

	if (!style->has_color)
		color = NULL;
	text_append(text, color);
	text_append(text, lead);
	text_append_hundredths(text, width, percent);
	text_append(text, "%");
	text_append(text, color ? "\033[m" : NULL);
}

void text_append_frame(struct text *text, const struct fold *fold, frame_id frame)
{
	const struct folded_frame *row = &fold->frames.items[frame];
	const struct function_row *function = &fold->profile->functions.items[row->function];

	if (!row->function) {
		text_append_address(text, 1, fold_frame_start(fold, frame));
		return;
	}
	text_append_printable(text, fold_frame_name(fold, frame));
	if (function->is_inlined)
		text_append(text, " (inlined)");
}

/* The same with the place in the source between name and mark; where it is not known and frames are
 * told apart by address, how far behind the function's start that is. */
static void append_placed_frame(struct text *text, const struct fold *fold, frame_id frame,
				enum fold_key key)
{
	const struct folded_frame *row = &fold->frames.items[frame];
	const struct location_row *location = &fold->profile->locations.items[row->location];

	if (!row->function || (!row->has_source && key != FOLD_BY_ADDRESS)) {
		text_append_frame(text, fold, frame);
		return;
	}
	text_append_printable(text, fold_frame_name(fold, frame));
	if (row->has_source) {
		text_append(text, " ");
		text_append_printable(text, fold_frame_source(fold, frame));
	} else {
		text_appendf(text, " +%" PRIu64, location->address - fold_frame_start(fold, frame));
	}
	if (fold->profile->functions.items[row->function].is_inlined)
		text_append(text, " (inlined)");
}

/* Words in one pair of brackets. */
static void append_word(struct text *text, bool *has_words, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void append_word(struct text *text, bool *has_words, const char *format, ...)
{
	va_list arguments;

	text_append(text, *has_words ? " " : " (");
	*has_words = true;
	va_start(arguments, format);
	text_appendv(text, format, arguments);
	va_end(arguments);
}

/* How the branches went that the frame is an end of. perf counts the ways out of a loop one short.
 */
static void append_branches(struct text *text, const struct branch_sums *sums)
{
	enum { LEAST_ABORTED = 1000 }; /* 0.1% */
	u64 branches = sums->branches, ways_out = branches ? branches - 1 : 0;
	u64 iterations = ways_out ? sums->iterations / ways_out : 0;
	bool has_words = false;

	if (!branches) {
		text_append(text, " (calltrace)");
		return;
	}
	if (sums->is_to && sums->predicted < branches)
		append_word(text, &has_words, "predicted:%.1f%%",
			    (double)sums->predicted * 100.0 / (double)branches);
	if (sums->is_to && sums->aborted * LEAST_ABORTED >= branches)
		append_word(text, &has_words, "abort:%.1f%%",
			    (double)sums->aborted * 100.0 / (double)branches);
	if (!sums->is_to && sums->cycles / branches)
		append_word(text, &has_words, "cycles:%" PRIu64, sums->cycles / branches);
	if (!sums->is_to && iterations) {
		append_word(text, &has_words, "iter:%" PRIu64, iterations);
		append_word(text, &has_words, "avg_cycles:%" PRIu64,
			    sums->loop_cycles / sums->iterations);
	}
	text_append(text, has_words ? ")" : NULL);
}

/* A frame of a stack, by its place in the tree; what is not certain says so. */
static void append_frame(struct drawing *drawing, u32 place)
{
	const struct fold *fold = drawing->view->list->fold;
	frame_id frame = drawing->tree->frames.items[place];

	if (drawing->view->graph->key == FOLD_BY_FUNCTION)
		text_append_frame(drawing->text, fold, frame);
	else
		append_placed_frame(drawing->text, fold, frame, drawing->view->graph->key);
	if (fold->frames.items[frame].is_likely)
		text_append(drawing->text, " [likely]");
	if (drawing->tree->sums.count)
		append_branches(drawing->text, &drawing->tree->sums.items[place]);
}

static void append_value(struct drawing *drawing, u64 hits, u64 samples, u64 whole)
{
	switch (drawing->view->graph->value) {
	case CALL_PERCENT:
		text_append_percent(drawing->text, drawing->style, "", 0,
				    whole ? (double)hits * 100.0 / (double)whole : 0.0);
		break;
	case CALL_PERIOD:
		text_appendf(drawing->text, "%" PRIu64, hits);
		break;
	case CALL_COUNT:
		text_appendf(drawing->text, "%" PRIu64, samples);
		break;
	}
}

/* --- trees --- */

static void append_margin(struct drawing *drawing)
{
	text_append_padded(drawing->text, NULL, drawing->margin);
}

static void append_bars(struct drawing *drawing, u32 levels)
{
	for (u32 i = 0; i < levels; i++)
		text_append_padded(drawing->text, drawing->bars.items[i] ? "|" : NULL, STEP + 1);
}

/* The line that leads down to a node. */
static void draw_lead(struct drawing *drawing, u32 level)
{
	append_margin(drawing);
	append_bars(drawing, level);
	text_append(drawing->text, "\n");
}

/* The beginning of a node's first line, up to its name. */
static void draw_value(struct drawing *drawing, u32 level, const struct call_node *node, u64 whole)
{
	append_margin(drawing);
	append_bars(drawing, level - 1);
	text_append(drawing->text, drawing->bars.items[level - 1] ? "|--" : " --");
	append_value(drawing, call_node_all_hits(node), node->samples + node->children_samples,
		     whole);
	text_append(drawing->text, "--");
}

static void draw_node(struct drawing *drawing, u32 level, const struct call_node *node, u64 whole)
{
	for (u32 i = 0; i < node->frame_count; i++) {
		if (i == 0) {
			draw_value(drawing, level, node, whole);
		} else {
			append_margin(drawing);
			append_bars(drawing, level);
		}
		append_frame(drawing, node->first_frame + i);
		text_append(drawing->text, "\n");
	}
}

static bool is_fractal(const struct drawing *drawing)
{
	return drawing->view->graph->type == CALL_GRAPH_FRACTAL;
}

/* What a fractal graph does not show of `parent`'s children, as one line. */
static void draw_rest(struct drawing *drawing, u32 level, const struct call_node *parent,
		      struct call_node rest, u64 whole)
{
	rest.samples = parent->children_samples - rest.samples;
	if (!rest.hits || rest.hits == whole)
		return;
	if (drawing->view->graph->value == CALL_COUNT && !rest.samples)
		return;
	drawing->bars.items[level - 1] = false;
	draw_value(drawing, level, &rest, whole);
	text_append(drawing->text, "[...]\n");
}

static void draw_children(struct drawing *drawing, u32 parent_node, u32 level, u64 whole)
{
	const struct call_node *parent = &drawing->tree->nodes.items[parent_node];
	u32 limit = drawing->view->graph->print_limit;
	struct call_node rest = {.hits = whole};

	while (drawing->bars.count < level)
		*vec_add(&drawing->bars) = true;
	drawing->bars.items[level - 1] = true;
	for (u32 i = 0; i < parent->child_count && (!limit || i < limit); i++) {
		u32 child = drawing->tree->children.items[parent->first_child + i];
		const struct call_node *node = &drawing->tree->nodes.items[child];
		bool is_last = i + 1 == parent->child_count;

		rest.hits -= call_node_all_hits(node);
		rest.samples += node->samples + node->children_samples;
		draw_lead(drawing, level);
		if (is_last && (!is_fractal(drawing) || !rest.hits))
			drawing->bars.items[level - 1] = false;
		draw_node(drawing, level, node, whole);
		draw_children(drawing, child, level + 1,
			      is_fractal(drawing) ? node->children_hits : whole);
	}
	if (is_fractal(drawing) && parent->child_count)
		draw_rest(drawing, level, parent, rest, whole);
}

/* One root that holds all needs no share: its frames come first. Returns the node below which to go
 * on. */
static u32 draw_single_root(struct drawing *drawing, u64 entry_period)
{
	const struct call_tree *tree = drawing->tree;
	const struct call_node *root = &tree->nodes.items[0];
	u32 child = root->child_count ? tree->children.items[root->first_child] : 0;
	const struct call_node *node = &tree->nodes.items[child];
	bool skips_first = drawing->view->list->settings.layout.begins_with_symbol;
	u32 limit = drawing->view->graph->print_limit;
	u32 drawn = 0;

	if (root->child_count != 1 || call_node_all_hits(node) != entry_period)
		return 0;
	for (u32 i = skips_first; i < node->frame_count && (!limit || drawn < limit); i++) {
		append_margin(drawing);
		if (drawn++ == 0) {
			text_append(drawing->text, "|\n");
			append_margin(drawing);
			text_append(drawing->text, "---");
			drawing->margin += 3;
		}
		append_frame(drawing, node->first_frame + i);
		text_append(drawing->text, "\n");
	}
	return child;
}

static void draw_tree(struct drawing *drawing, u64 entry_period)
{
	size_t before = drawing->text->length;
	u32 root = draw_single_root(drawing, entry_period);
	u64 whole = is_fractal(drawing) ? entry_period : drawing->view->list->total_period;

	draw_children(drawing, root, 1, whole);
	if (drawing->text->length != before)
		text_append(drawing->text, "\n");
}

/* --- lists --- */

static void append_chain(struct drawing *drawing, u32 node, const char *separator)
{
	const struct call_tree *tree = drawing->tree;
	const struct call_node *row = &tree->nodes.items[node];

	if (row->parent)
		append_chain(drawing, row->parent, separator);
	for (u32 i = 0; i < row->frame_count; i++) {
		if (!separator)
			text_appendf(drawing->text, "%*s", FLAT_MARGIN, "");
		else if (i || row->parent)
			text_append(drawing->text, separator);
		append_frame(drawing, row->first_frame + i);
		if (!separator)
			text_append(drawing->text, "\n");
	}
}

static void append_list(struct drawing *drawing)
{
	const struct call_tree *tree = drawing->tree;
	const struct call_graph_settings *graph = drawing->view->graph;
	const char *separator = drawing->style->separator ? drawing->style->separator : ";";
	u64 whole = drawing->view->list->total_period;

	for (u32 i = 0; i < tree->ends.count && (!graph->print_limit || i < graph->print_limit);
	     i++) {
		const struct call_node *node = &tree->nodes.items[tree->ends.items[i]];

		if (graph->type == CALL_GRAPH_FOLDED) {
			append_value(drawing, node->hits, node->samples, whole);
			text_append(drawing->text, " ");
			append_chain(drawing, tree->ends.items[i], separator);
		} else {
			text_appendf(drawing->text, "%*s", FLAT_VALUE_MARGIN, "");
			append_value(drawing, call_node_all_hits(node),
				     node->samples + node->children_samples, whole);
			text_append(drawing->text, "\n");
			append_chain(drawing, tree->ends.items[i], NULL);
		}
		text_append(drawing->text, "\n");
	}
}

void text_append_graph(struct text *text, const struct report_view *view,
		       const struct text_style *style, u32 entry)
{
	CLEANUP(call_tree_freep) struct call_tree *tree = NULL;
	struct drawing drawing = {.text = text, .view = view, .style = style, .margin = MARGIN};
	const struct entry *row = &view->list->entries.items[entry];

	if (call_tree_is_empty(view->list, entry, view->graph))
		return;
	tree = call_tree_new(view->list, entry, view->graph);
	drawing.tree = tree;
	if (view->graph->type == CALL_GRAPH_FLAT || view->graph->type == CALL_GRAPH_FOLDED)
		append_list(&drawing);
	else
		draw_tree(&drawing, entry_whole_period(view->list, row));
	vec_release(&drawing.bars);
}
