/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Entries in the order of their keys, cut where the keys of a level change, level by level.
 */
#include "profile/hierarchy.h"

#include "profile/entry_order.h"

#include <string.h>

struct growing {
	struct hierarchy *hierarchy;
	const struct entry_list *list;
	const u32 *order; /* rows of entries, by identity */
};

/* Entries order[first] … order[end - 1]. */
struct run {
	u32 first, end;
};

/* A node of these entries; its children come later. */
static void add_node(struct growing *growing, struct run run, u32 depth)
{
	struct hierarchy *hierarchy = growing->hierarchy;
	const struct entry_list *list = growing->list;
	u32 first = growing->order[run.first];
	size_t at = hierarchy->figures.count;

	*vec_add(&hierarchy->nodes) = (struct hierarchy_node){
		.depth = depth,
		.entry = first,
		/* until they are made: the entries that they are made of */
		.first_child = run.first,
		.child_count = run.end - run.first,
	};
	*vec_add(&hierarchy->figures) = list->entries.items[first];
	for (u32 i = 1; i < hierarchy->figure_count; i++)
		*vec_add(&hierarchy->figures) = entry_others(list,
							     &list->entries.items[first])[i - 1];
	for (u32 row = run.first + 1; row < run.end; row++) {
		const struct entry *entry = &list->entries.items[growing->order[row]];

		entry_add_self(&hierarchy->figures.items[at], entry);
		for (u32 i = 1; i < hierarchy->figure_count; i++)
			entry_add_self(&hierarchy->figures.items[at + i],
				       &entry_others(list, entry)[i - 1]);
	}
}

static bool agree(const struct growing *growing, u32 a, u32 b, u32 level)
{
	const struct entry_list *list = growing->list;
	const struct entry_layout *layout = &list->settings.layout;

	for (u32 i = 0; i < layout->order_count; i++) {
		u8 field = layout->order[i];

		if (entry_field_is_key(field) && layout->levels[field] == level &&
		    !entry_same_key(list, field, &list->entries.items[a], &list->entries.items[b]))
			return false;
	}
	return true;
}

/* --- the order of siblings --- */

struct sibling {
	struct hierarchy_node node;
	const struct entry *figures;
	u32 place; /* by identity */
};

static int compare_siblings(const void *left, const void *right, void *context)
{
	const struct growing *growing = context;
	const struct sibling *a = left, *b = right;
	const struct entry_layout *layout = &growing->list->settings.layout;
	const struct entry_figures of_a = {a->figures, a->figures + 1};
	const struct entry_figures of_b = {b->figures, b->figures + 1};

	for (u32 i = 0; i < layout->order_count; i++) {
		u8 field = layout->order[i];
		int order = entry_field_is_key(field)
				    ? entry_compare_key(growing->list, field, a->figures,
							b->figures)
				    : entry_compare_figures(growing->list, field, of_a, of_b);

		if (order)
			return order;
	}
	return (a->place > b->place) - (a->place < b->place);
}

static void sort_siblings(struct growing *growing, u32 first, u32 count)
{
	struct hierarchy *hierarchy = growing->hierarchy;
	u32 width = hierarchy->figure_count;
	struct entry *figures = must_alloc_array((size_t)count * width, sizeof(*figures));
	struct sibling *siblings = must_alloc_array(count, sizeof(*siblings));

	memcpy(figures, &hierarchy->figures.items[(size_t)first * width],
	       (size_t)count * width * sizeof(*figures));
	for (u32 i = 0; i < count; i++)
		siblings[i] = (struct sibling){hierarchy->nodes.items[first + i],
					       &figures[(size_t)i * width], i};
	qsort_r(siblings, count, sizeof(*siblings), compare_siblings, growing);
	for (u32 i = 0; i < count; i++) {
		hierarchy->nodes.items[first + i] = siblings[i].node;
		memcpy(&hierarchy->figures.items[(size_t)(first + i) * width], siblings[i].figures,
		       width * sizeof(*figures));
	}
	free(figures);
	free(siblings);
}

/* Nodes of the next level, of these entries. Returns how many. */
static u32 add_level(struct growing *growing, struct run run, u32 level)
{
	u32 first = (u32)growing->hierarchy->nodes.count;
	u32 begin = run.first;
	u32 count;

	for (u32 row = run.first + 1; row <= run.end; row++) {
		if (row < run.end &&
		    agree(growing, growing->order[begin], growing->order[row], level))
			continue;
		add_node(growing, (struct run){begin, row}, level);
		begin = row;
	}
	count = (u32)growing->hierarchy->nodes.count - first;
	sort_siblings(growing, first, count);
	return count;
}

struct hierarchy *hierarchy_new(const struct entry_list *list)
{
	struct hierarchy *hierarchy = must_alloc(sizeof(*hierarchy));
	u32 *order = entry_order_by_identity(list);
	struct growing growing = {.hierarchy = hierarchy, .list = list, .order = order};
	u32 levels = list->settings.layout.level_count;

	hierarchy->figure_count = list->settings.member_count + 1;
	if (list->entries.count)
		hierarchy->top_count = add_level(&growing,
						 (struct run){0, (u32)list->entries.count}, 0);
	for (u32 i = 0; i < hierarchy->nodes.count; i++) {
		struct hierarchy_node node = hierarchy->nodes.items[i];
		struct run run = {node.first_child, node.first_child + node.child_count};

		node.first_child = (u32)hierarchy->nodes.count;
		node.child_count = node.depth + 1 < levels
					   ? add_level(&growing, run, node.depth + 1)
					   : 0;
		hierarchy->nodes.items[i] = node;
	}
	free(order);
	return hierarchy;
}

void hierarchy_free(struct hierarchy *hierarchy)
{
	if (!hierarchy)
		return;
	vec_release(&hierarchy->nodes);
	vec_release(&hierarchy->figures);
	free(hierarchy);
}
