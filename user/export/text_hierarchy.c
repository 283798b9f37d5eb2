/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hierarchy as text, to the byte as perf prints it.
 *
 * Source of the layout: output of perf 6.1; tools/perf/ui/stdio/hist.c.
 */
#include "export/text_hierarchy.h"

#include "export/text_graph.h"
#include "profile/profile.h"

#include <string.h>

enum { STEP = 3 }; /* blanks a level */

struct writing {
	struct table *table;
	const struct hierarchy *hierarchy;
	struct text line;
};

/* --- titles --- */

static void write_dots(FILE *out, u32 count)
{
	while (count--)
		fputc('.', out);
}

/* Blanks behind the figures, so that those of all levels have room. */
static u32 room_of_levels(const struct table *table)
{
	u32 levels = table->list->settings.layout.level_count;

	return table->style->separator || levels < 2 ? 0 : (levels - 1) * STEP;
}

/* Without the blanks in front. */
static const char *title_at(const struct table *table, u8 field, size_t *ret_length)
{
	const char *title = table_title(table, field);

	title += strspn(title, " ");
	*ret_length = strlen(title);
	while (*ret_length && title[*ret_length - 1] == ' ')
		--*ret_length;
	return title;
}

/* "Command+Shared Object / Symbol". Returns its length. */
static u32 write_levels(const struct table *table)
{
	const struct entry_layout *layout = &table->list->settings.layout;
	FILE *out = table->style->out;
	u32 last_level = 0, length = 0;
	bool is_first = true;

	for (u32 i = 0; i < layout->order_count; i++) {
		u8 field = layout->order[i];
		const char *between = is_first				    ? ""
				      : layout->levels[field] == last_level ? "+"
									    : " / ";
		const char *title;
		size_t title_length;

		if (!entry_field_is_key(field))
			continue;
		title = title_at(table, field, &title_length);
		length += (u32)fprintf(out, "%s%.*s", between, (int)title_length, title);
		last_level = layout->levels[field];
		is_first = false;
	}
	return length;
}

/* What the longest line of keys may take: each level, indented. */
static u32 width_of_levels(const struct table *table)
{
	const struct entry_layout *layout = &table->list->settings.layout;
	u32 widest = 0;

	for (u32 level = 0; level < layout->level_count; level++) {
		u32 width = level * STEP, keys = 0;

		for (u32 i = 0; i < layout->order_count; i++) {
			u8 field = layout->order[i];

			if (entry_field_is_key(field) && layout->levels[field] == level)
				width += table->widths[field] + (keys++ > 0);
		}
		widest = width > widest ? width : widest;
	}
	return widest;
}

static void write_titles(const struct table *table)
{
	const char *separator = table->style->separator;
	FILE *out = table->style->out;
	u32 length, width = width_of_levels(table);
	bool is_first = true;

	fprintf(out, "# %*s", (int)room_of_levels(table), "");
	for (u32 i = 0; i < table->field_count; i++) {
		if (entry_field_is_key(table->fields[i]))
			continue;
		table_write_title(table, table->fields[i]);
		fputs(separator ? separator : "  ", out);
	}
	length = write_levels(table);
	fputs("\n# ", out);
	write_dots(out, room_of_levels(table));
	for (u32 i = 0; i < table->field_count; i++) {
		if (entry_field_is_key(table->fields[i]))
			continue;
		if (!is_first)
			fputs(separator ? separator : "..", out);
		is_first = false;
		write_dots(out, table->widths[table->fields[i]]);
	}
	fputs(separator ? separator : "  ", out);
	write_dots(out, width > length ? width : length);
	fputs("\n#\n", out);
}

/* --- lines --- */

/* Returns the columns that they take. */
static u32 append_figures(const struct writing *writing, struct text *line,
			  const struct hierarchy_node *node)
{
	const struct table *table = writing->table;
	const struct entry *figures = hierarchy_figures(writing->hierarchy, node);
	const char *separator = table->style->separator;
	u32 columns = 0;

	for (u32 i = 0; i < table->field_count; i++) {
		u8 field = table->fields[i];
		size_t begin;

		if (entry_field_is_key(field))
			continue;
		if (!separator || columns)
			text_append(line, separator ? separator : "  ");
		columns += table->widths[field] + (columns ? 2 : 0);
		begin = line->length;
		table_append_figure(table, line, figures, figures + 1, field);
		if (line->length - begin < table->widths[field])
			text_append_padded(line, NULL,
					   table->widths[field] - (line->length - begin));
	}
	return columns;
}

static void append_keys(const struct writing *writing, struct text *line,
			const struct hierarchy_node *node)
{
	struct table *table = writing->table;
	const struct entry_layout *layout = &table->list->settings.layout;
	const char *separator = table->style->separator;
	struct text cell = {0};

	for (u32 i = 0; i < layout->order_count; i++) {
		u8 field = layout->order[i];
		const char *text;

		if (!entry_field_is_key(field) || layout->levels[field] != node->depth)
			continue;
		text_truncate(&cell, 0);
		key_columns_append(&table->keys, &cell, hierarchy_figures(writing->hierarchy, node),
				   field);
		text = text_view(&cell);
		text_append(line, separator ? separator : "  ");
		text_append(line, text + strspn(text, " "));
	}
	text_append(line, "\n");
	text_release(&cell);
}

static bool is_shown(const struct writing *writing, const struct hierarchy_node *node)
{
	return report_shows(writing->table->view, hierarchy_figures(writing->hierarchy, node));
}

static bool has_shown_children(const struct writing *writing, const struct hierarchy_node *node)
{
	for (u32 i = 0; i < node->child_count; i++)
		if (is_shown(writing, &writing->hierarchy->nodes.items[node->first_child + i]))
			return true;
	return false;
}

static void append_none(const struct writing *writing, struct text *line,
			const struct hierarchy_node *node, u32 figure_columns)
{
	enum { BEHIND_FIGURES = 4 };
	const struct table *table = writing->table;
	u32 levels = table->list->settings.layout.level_count;

	if (!table->style->separator)
		text_append_padded(line, NULL, (size_t)(levels + node->depth) * STEP);
	text_append_padded(line, NULL, figure_columns + BEHIND_FIGURES);
	text_appendf(line, "no entry >= %.2f%%\n", table->view->percent_limit);
}

static void write_node(struct writing *writing, u32 number)
{
	const struct hierarchy_node *node = &writing->hierarchy->nodes.items[number];
	const struct table *table = writing->table;
	struct text *line = &writing->line;
	u32 columns;

	if (!is_shown(writing, node))
		return;
	text_truncate(line, 0);
	text_append_padded(line, NULL, (size_t)node->depth * STEP);
	columns = append_figures(writing, line, node);
	text_append_padded(line, NULL, room_of_levels(table));
	append_keys(writing, line, node);
	if (!node->child_count)
		text_append_graph(line, table->view, table->style, node->entry);
	else if (!has_shown_children(writing, node))
		append_none(writing, line, node, columns);
	fwrite(text_view(line), 1, line->length, table->style->out);
	for (u32 i = 0; i < node->child_count; i++)
		write_node(writing, node->first_child + i);
}

void text_write_hierarchy(struct table *table)
{
	struct hierarchy *hierarchy = hierarchy_new(table->list);
	struct writing writing = {.table = table, .hierarchy = hierarchy};

	if (!table->style->is_quiet)
		write_titles(table);
	for (u32 i = 0; i < hierarchy->top_count; i++)
		write_node(&writing, i);
	text_release(&writing.line);
	hierarchy_free(hierarchy);
}
