/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Entries of many rows, of which each CPU counts a part.
 */
#include "unit/unit.h"

#include "base/memory.h"
#include "profile/profile.h"

enum { CALLEES = 30000 };

/* A caller without name calls each of the callees, of which none has a name, in one thread and then
 * in another one. */
static struct profile *call_all_twice(void)
{
	struct profile *profile = profile_new();
	location_id caller = profile_location(profile, 0, 1, SPACE_USER);
	string_id comm = intern_text(&profile->strings, "busy");

	*vec_add(&profile->threads) = (struct thread_row){.pid = 1, .tid = 1, .comm = comm};
	for (u32 i = 0; i < 2 * CALLEES; i++) {
		struct label_row labels = {.comm = comm, .tid = i / CALLEES};
		location_id callee = profile_location(profile, 0, 100 + i % CALLEES, SPACE_USER);
		struct count_row count = {
			.stack = profile_stack(profile, &(struct stack_row){.location = caller}),
			.leaf = callee,
			.labels = profile_labels(profile, &labels),
			.first_thread = 1,
			.space = SPACE_USER,
			.weight = 10,
			.samples = 1,
		};
		struct stack_row stack = {.caller = count.stack, .location = callee};

		count.stack = profile_stack(profile, &stack);
		profile_add(profile, &count);
	}
	return profile;
}

static void entries_of_many_rows_stand_in_order_of_first_sight(void **state)
{
	struct profile *profile = call_all_twice();
	struct fold *fold = fold_new(profile, FOLD_BY_FUNCTION);
	struct entry_list_settings settings = {
		.has_children = true, .shows_chains = true, .order = CALLER_FIRST};
	struct entry_list *list;
	struct call_graph_settings graph = CALL_GRAPH_DEFAULTS;
	struct call_tree *tree;

	assert_int_equal(entry_layout_parse(&(struct entry_layout_settings){.has_children = true},
					    &settings.layout),
			 0);
	list = entry_list_new(fold, &settings);
	assert_int_equal(list->entries.count, CALLEES + 1);
	assert_int_equal(list->total_period, 2 * CALLEES * 10);
	assert_int_equal(list->sorted[0], 1); /* the caller: seen behind the first callee */
	assert_int_equal(list->entries.items[1].children_period, 2 * CALLEES * 10);
	assert_int_equal(list->entries.items[1].samples, 0);
	assert_int_equal(list->entries.items[1].max_depth, 2);
	for (u32 i = 2; i < list->entries.count; i++) {
		const struct entry *entry = &list->entries.items[i];

		assert_int_equal(fold_frame_start(fold, entry->frame), 100 + i - 1);
		assert_int_equal(entry->period, 20);
		assert_int_equal(entry->children_samples, 2);
	}
	/* its chains, too: what they call is below the threshold, but ends the run of the caller */
	call_tree_prepare(list, &graph);
	tree = call_tree_new(list, 1, &graph);
	assert_int_equal(tree->nodes.count, 2);
	assert_int_equal(tree->nodes.items[1].frame_count, 1);
	assert_int_equal(tree->nodes.items[1].children_hits, 2 * CALLEES * 10);
	assert_int_equal(tree->nodes.items[1].children_samples, 2 * CALLEES);
	call_tree_free(tree);
	assert_false(call_tree_is_empty(list, 1, &graph));
	assert_true(call_tree_is_empty(list, 2, &graph));
	entry_list_free(list);
	fold_free(fold);
	profile_free(profile);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_of_many_rows_stand_in_order_of_first_sight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
