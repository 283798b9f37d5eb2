/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ranges of frame description entries, without their rules.
 */
#include "unwind/function_bounds.h"

#include "unwind/cfi_sections.h"

#include <stdlib.h>

struct function_bounds {
	VEC(struct function_bound) items; /* in the order of the section */
};

static int take_bound(void *context, u64 start, u64 end)
{
	struct function_bounds *bounds = context;

	*vec_add(&bounds->items) = (struct function_bound){start, end};
	return 1; /* its rules are not wanted */
}

static void ignore_rule(void *context, u64 start, const struct unwind_rule *rule)
{
	(void)context, (void)start, (void)rule;
}

static int read_bounds(const struct cfi_sections *sections, struct function_bounds *bounds)
{
	struct cfi_taker taker = {take_bound, ignore_rule, bounds};
	struct cfi_result result = {0};

	if (sections->eh_frame.bytes.length)
		return cfi_read(&sections->eh_frame, &taker, &result);
	if (sections->debug_frame.bytes.length)
		return cfi_read(&sections->debug_frame, &taker, &result);
	return 0;
}

/* --- where they are in the file --- */

static int compare_places(const void *left, const void *right)
{
	const struct function_place *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

/* Adds the part of a function that its segment holds. */
static void add_place(const struct cfi_sections *sections, const struct function_bound *bound,
		      struct function_places *places)
{
	for (size_t i = 0; i < sections->text_count; i++) {
		const struct cfi_segment *text = &sections->text[i];
		u64 skipped = bound->start - text->address, bytes = bound->end - bound->start;

		if (skipped >= text->bytes || bound->end <= bound->start)
			continue;
		if (bytes > text->bytes - skipped)
			bytes = text->bytes - skipped;
		*vec_add(&places->items) = (struct function_place){
			text->offset + skipped, text->offset + skipped + bytes, bound->start};
		return;
	}
}

static void sort_places(struct function_places *places)
{
	struct function_place *items = places->items.items;
	size_t kept = 0, count = places->items.count;

	if (!count)
		return;
	qsort(items, count, sizeof(*items), compare_places);
	for (size_t i = 1; i < count; i++)
		if (items[i].start != items[kept].start)
			items[++kept] = items[i];
	places->items.count = kept + 1;
}

int function_places_read(struct bytes image, struct function_places *places)
{
	struct function_bounds bounds = {0};
	struct cfi_sections sections;
	int error = cfi_sections_open(image, &sections);

	if (!error)
		error = read_bounds(&sections, &bounds);
	for (size_t i = 0; i < bounds.items.count; i++)
		add_place(&sections, &bounds.items.items[i], places);
	sort_places(places);
	vec_release(&bounds.items);
	cfi_sections_close(&sections);
	return error;
}

const struct function_place *function_places_find(const struct function_places *places, u64 offset)
{
	const struct function_place *items = places->items.items;
	size_t from = 0, to = places->items.count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (items[middle].start <= offset)
			from = middle + 1;
		else
			to = middle;
	}
	return from && offset < items[from - 1].end ? &items[from - 1] : NULL;
}
