/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines that a script wants to fail for.
 */
#include "cmd/diff_verdict.h"

#include <stdio.h>

int diff_verdict_parse(const struct text_list *expressions, struct diff_verdict *verdict)
{
	int error = 0;

	for (size_t i = 0; i < expressions->count && !error; i++) {
		struct conditions *conditions = NULL;

		error = conditions_parse(expressions->items[i], &conditions);
		if (!error)
			*vec_add(&verdict->asked) = conditions;
	}
	return error;
}

static bool is_asked_for(const struct diff_verdict *verdict, const struct changes *changes,
			 u32 entry, u32 side)
{
	for (size_t i = 0; i < verdict->asked.count; i++)
		if (conditions_hold(verdict->asked.items[i], changes, entry, side))
			return true;
	return false;
}

static void describe(struct text *text, const struct changes *changes, u32 entry, u32 side)
{
	const struct change *change = changes_of(changes, entry, side);
	const struct entry_list *list;
	const struct entry *shown = comparison_shown(changes->comparison, entry, &list);
	const char *symbol = fold_frame_name(list->fold, shown->frame);
	const struct entry_layout *layout = &list->settings.layout;

	if (entry_layout_has_key(layout, FIELD_SYMBOL) && *symbol) {
		text_append_printable(text, symbol);
		text_append(text, " of ");
	}
	if (entry_layout_has_key(layout, FIELD_COMM) && !entry_layout_has_key(layout, FIELD_DSO))
		text_append_printable(text, profile_text(list->fold->profile, shown->comm));
	else
		text_append_printable(text, entry_dso(list, shown, FIELD_DSO));
	text_appendf(text, ", %.2f%% to %.2f%%, p = %.2g", change->before * 100,
		     change->after * 100, change->adjusted_p);
}

static void ask_line(struct diff_verdict *verdict, const struct changes *changes, u32 entry)
{
	const struct comparison *comparison = changes->comparison;

	for (u32 side = 1; side < changes->side_count; side++) {
		if (!comparison->side_totals[side].is_there ||
		    !is_asked_for(verdict, changes, entry, side))
			continue;
		if (!verdict->matches++)
			describe(&verdict->first, changes, entry, side);
		return;
	}
}

void diff_verdict_ask(struct diff_verdict *verdict, const struct changes *changes)
{
	const struct comparison *comparison = changes->comparison;

	for (size_t i = 0; i < comparison->sorted_count; i++)
		ask_line(verdict, changes, comparison->sorted[i]);
}

int diff_verdict_tell(const struct diff_verdict *verdict)
{
	if (!verdict->matches)
		return STATUS_DONE;
	if (verdict->matches == 1)
		fprintf(stderr, "bpfprof: --fail-if holds for one line: %s\n",
			text_view(&verdict->first));
	else
		fprintf(stderr, "bpfprof: --fail-if holds for %zu lines, the first: %s\n",
			verdict->matches, text_view(&verdict->first));
	return STATUS_FOUND;
}

void diff_verdict_release(struct diff_verdict *verdict)
{
	for (size_t i = 0; i < verdict->asked.count; i++)
		conditions_free(verdict->asked.items[i]);
	vec_release(&verdict->asked);
	text_release(&verdict->first);
}
