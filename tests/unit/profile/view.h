/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lines of a report over made-up samples, and their comparison with what is expected.
 */
#ifndef TESTS_PROFILE_VIEW_H
#define TESTS_PROFILE_VIEW_H

#include "unit/profile/machine.h"
#include "unit/unit.h"

#include <stdio.h>

/* An entry as text, "comm dso symbol children/self" with what the layout has. */
static inline const char *entry_text(const struct entry_list *list, u32 place,
				     char text[static 128])
{
	const struct entry *entry = &list->entries.items[list->sorted[place]];
	const struct profile *profile = list->fold->profile;
	const struct entry_layout *layout = &list->settings.layout;
	FILE *out = fmemopen(text, 128, "w");

	if (entry_layout_has_key(layout, FIELD_CPU))
		fprintf(out, "%u ", entry->cpu);
	if (entry_layout_has_key(layout, FIELD_PID))
		fprintf(out, "%u ", profile->threads.items[entry->thread].tid);
	if (entry_layout_has_key(layout, FIELD_COMM))
		fprintf(out, "%s ", profile_text(profile, entry->comm));
	if (entry_layout_has_key(layout, FIELD_DSO))
		fprintf(out, "%s ", entry_dso(list, entry, FIELD_DSO));
	if (entry_layout_has_key(layout, FIELD_SYMBOL))
		fprintf(out, "%s ", fold_frame_name(list->fold, entry->frame));
	if (list->settings.has_children)
		fprintf(out, "%lu/", (unsigned long)entry->children_period);
	fprintf(out, "%lu", (unsigned long)entry->period);
	fclose(out);
	return text;
}

static inline void assert_entries(const struct entry_list *list, const char *const *expected)
{
	char text[128];
	u32 count = 0;

	for (; expected[count]; count++) {
		assert_true(count < list->entries.count);
		assert_string_equal(entry_text(list, count, text), expected[count]);
	}
	assert_int_equal(list->entries.count, count);
}

struct wanted {
	const char *sort, *fields;
	bool has_children, shows_chains, is_relative;
	enum chain_order order;
	u32 max_stack;
	struct name_filter comms, dsos, symbols;
	u32 pid;
};

struct view {
	struct profile *profile;
	struct fold *fold;
	struct entry_list *list;
};

static inline struct entry_list *list_of(const struct fold *fold, const struct wanted *wanted)
{
	struct entry_layout_settings layout = {
		.sort = wanted->sort,
		.fields = wanted->fields,
		.has_children = wanted->has_children,
	};
	struct entry_list_settings settings = {
		.has_children = wanted->has_children,
		.shows_chains = wanted->shows_chains,
		.is_relative = wanted->is_relative,
		.order = wanted->order,
		.max_stack = wanted->max_stack,
		.comms = wanted->comms,
		.dsos = wanted->dsos,
		.symbols = wanted->symbols,
		.pids = &wanted->pid,
		.pid_count = wanted->pid ? 1 : 0,
	};

	assert_int_equal(entry_layout_parse(&layout, &settings.layout), 0);
	return entry_list_new(fold, &settings);
}

static inline struct view view_of(const struct machine_sample *samples, size_t count, u64 weight,
				  const struct wanted *wanted)
{
	struct view view = {
		.profile = machine_profile(samples, count, weight,
					   wanted->has_children || wanted->shows_chains),
	};

	view.fold = fold_new(view.profile, FOLD_BY_FUNCTION);
	view.list = list_of(view.fold, wanted);
	return view;
}

static inline void view_release(struct view *view)
{
	entry_list_free(view->list);
	fold_free(view->fold);
	profile_free(view->profile);
}

#endif
