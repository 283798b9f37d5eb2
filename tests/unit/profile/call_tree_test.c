/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call graphs of made-up stacks, held against chains that are put together row by row.
 */
#include "unit/unit.h"

#include "base/memory.h"
#include "profile/profile.h"

enum { ROWS = 400, FUNCTIONS = 5, DEEPEST = 9 };

struct made {
	struct profile *profile;
	struct fold *fold;
	struct entry_list *list;
};

static u32 next_number(u64 *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (u32)(*state >> 33);
}

/* Stacks of few functions, which stand in them again and again. Some samples' own address is of
 * another function than their innermost frame. */
static struct profile *make_profile(void)
{
	struct profile *profile = profile_new();
	string_id comms[] = {intern_text(&profile->strings, "one"),
			     intern_text(&profile->strings, "two")};
	u64 state = 11;

	*vec_add(&profile->threads) = (struct thread_row){.pid = 1, .tid = 1, .comm = comms[0]};
	for (u32 i = 0; i < ROWS; i++) {
		u32 depth = 1 + next_number(&state) % DEEPEST;
		struct label_row labels = {.comm = comms[next_number(&state) % 2]};
		struct count_row count = {
			.first_thread = 1,
			.space = SPACE_USER,
			.weight = 1 + next_number(&state) % 100,
			.samples = 1,
		};

		for (u32 d = 0; d < depth; d++) {
			count.leaf = profile_location(
				profile, 0, 100 + next_number(&state) % FUNCTIONS, SPACE_USER);
			count.stack = profile_stack(
				profile,
				&(struct stack_row){.caller = count.stack, .location = count.leaf});
		}
		if (!(next_number(&state) % 4))
			count.leaf = profile_location(
				profile, 0, 100 + next_number(&state) % FUNCTIONS, SPACE_USER);
		count.labels = profile_labels(profile, &labels);
		profile_add(profile, &count);
	}
	return profile;
}

static struct made make(enum chain_order order, bool has_children, u32 max_stack)
{
	struct made made = {.profile = make_profile()};
	struct entry_list_settings settings = {
		.has_children = has_children,
		.shows_chains = true,
		.order = order,
		.max_stack = max_stack,
	};

	made.fold = fold_new(made.profile, FOLD_BY_FUNCTION);
	assert_int_equal(
		entry_layout_parse(&(struct entry_layout_settings){.has_children = has_children},
				   &settings.layout),
		0);
	made.list = entry_list_new(made.fold, &settings);
	return made;
}

static void release(struct made *made)
{
	entry_list_free(made->list);
	fold_free(made->fold);
	profile_free(made->profile);
}

/* --- the slow way --- */

static bool is_of(const struct made *made, const struct entry *entry, u32 row, frame_id frame)
{
	const struct folded_row *folded = &made->fold->rows.items[row];

	return frame == entry->frame &&
	       made->profile->labels.items[folded->labels].comm == entry->comm;
}

/* The chain that a row has in the graph of an entry. Returns its length, 0: none. */
static u32 chain_of(const struct made *made, const struct entry *entry, u32 row, frame_id *chain)
{
	frame_id frames[DEEPEST];
	u32 count = entry_list_frames(made->list, row, frames), from = 0;

	if (!is_of(made, entry, row, made->fold->rows.items[row].leaf)) {
		if (!made->list->settings.has_children)
			return 0;
		while (from < count && !is_of(made, entry, row, frames[from]))
			from++;
	}
	memcpy(chain, frames + from, (count - from) * sizeof(*chain));
	return count - from;
}

/* What goes through a place of a graph, and what ends there. */
struct sums {
	u64 all, ends;
	u32 branches; /* ways on */
};

static struct sums sum_chains(const struct made *made, const struct entry *entry,
			      const frame_id *begin, u32 length)
{
	struct sums sums = {0};
	bool goes_to[FUNCTIONS + 2] = {0};

	for (u32 row = 0; row < made->fold->rows.count; row++) {
		frame_id chain[DEEPEST];
		u32 count = chain_of(made, entry, row, chain);
		u64 weight = made->fold->rows.items[row].weight;

		if (!count || count < length || memcmp(chain, begin, length * sizeof(*begin)) != 0)
			continue;
		sums.all += weight;
		sums.ends += count == length ? weight : 0;
		if (count > length && !goes_to[chain[length]]) {
			goes_to[chain[length]] = true;
			sums.branches++;
		}
	}
	return sums;
}

/* How many ways on from there reach `least`. */
static u32 count_heavy(const struct made *made, const struct entry *entry, frame_id *begin,
		       u32 length, u64 least)
{
	u32 count = 0;

	for (frame_id frame = 1; frame < made->fold->frames.count && length < DEEPEST; frame++) {
		begin[length] = frame;
		count += sum_chains(made, entry, begin, length + 1).all >= least;
	}
	return count;
}

/* --- held against each other --- */

/* The frames from the root to a node's last one. Returns how many. */
static u32 frames_to(const struct call_tree *tree, u32 node, frame_id *frames)
{
	const struct call_node *row = &tree->nodes.items[node];
	u32 count = node ? frames_to(tree, row->parent, frames) : 0;

	memcpy(frames + count, tree->frames.items + row->first_frame,
	       row->frame_count * sizeof(*frames));
	return count + row->frame_count;
}

static void assert_node(const struct made *made, const struct entry *entry,
			const struct call_tree *tree, u32 node, u64 least)
{
	const struct call_node *row = &tree->nodes.items[node];
	frame_id frames[DEEPEST + 1];
	u32 count = frames_to(tree, node, frames);
	struct sums sums = sum_chains(made, entry, frames, count);

	assert_int_equal(row->hits, sums.ends);
	assert_int_equal(call_node_all_hits(row), sums.all);
	assert_int_equal(row->child_count, count_heavy(made, entry, frames, count, least));
	if (!node)
		return;
	assert_true(sums.ends || sums.branches != 1);
	for (u32 inner = count - row->frame_count + 1; inner < count; inner++) {
		sums = sum_chains(made, entry, frames, inner);
		assert_int_equal(sums.ends, 0);
		assert_int_equal(sums.branches, 1);
	}
}

static void assert_children_descend(const struct call_tree *tree, const struct call_node *node)
{
	for (u32 i = 1; i < node->child_count; i++) {
		const u32 *children = tree->children.items + node->first_child;

		assert_true(call_node_all_hits(&tree->nodes.items[children[i - 1]]) >=
			    call_node_all_hits(&tree->nodes.items[children[i]]));
	}
}

static void assert_graphs(enum chain_order order, bool has_children, u32 max_stack)
{
	struct call_graph_settings settings = CALL_GRAPH_DEFAULTS;
	struct made made = make(order, has_children, max_stack);
	u32 nodes = 0;

	for (u32 i = 0; i < made.list->entries.count; i++) {
		struct call_tree *tree = call_tree_new(made.list, i, &settings);
		u64 least = (u64)((double)made.list->total_period *
				  (settings.threshold_percent / 100));

		for (u32 node = 0; node < tree->nodes.count; node++) {
			assert_node(&made, &made.list->entries.items[i], tree, node, least);
			assert_children_descend(tree, &tree->nodes.items[node]);
		}
		nodes += (u32)tree->nodes.count;
		call_tree_free(tree);
	}
	assert_true(nodes > 3 * made.list->entries.count);
	release(&made);
}

static void graphs_are_what_chains_sum_up_to_callers_first(void **state)
{
	assert_graphs(CALLER_FIRST, true, 0);
	assert_graphs(CALLER_FIRST, false, 0);
	(void)state;
}

static void graphs_are_what_chains_sum_up_to_callees_first(void **state)
{
	assert_graphs(CALLEE_FIRST, true, 0);
	assert_graphs(CALLEE_FIRST, false, 0);
	(void)state;
}

static void graphs_end_where_stacks_are_cut(void **state)
{
	assert_graphs(CALLER_FIRST, true, 4);
	assert_graphs(CALLEE_FIRST, true, 4);
	assert_graphs(CALLEE_FIRST, false, 3);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(graphs_are_what_chains_sum_up_to_callers_first),
		cmocka_unit_test(graphs_are_what_chains_sum_up_to_callees_first),
		cmocka_unit_test(graphs_end_where_stacks_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
