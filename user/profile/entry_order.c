/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The order of entries, as perf has it to the last tie: first by identity (keys ascending, symbols
 * by address), then by what is shown (entry_tree.c).
 */
#include "profile/entry_order.h"

#include "base/sort.h"
#include "profile/entry_ranks.h"
#include "profile/entry_tree.h"
#include "profile/memory_keys.h"

#include <string.h>

/* A list and what to compare its entries by. */
struct ordering {
	const struct entry_list *list;
	struct entry_ranks ranks;
};

static int compare_u64(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

/* perf subtracts addresses and looks at the sign. */
static int compare_address(u64 a, u64 b)
{
	s64 difference = (s64)(a - b);

	return (difference > 0) - (difference < 0);
}

/* Most neighbours share their name, and then no byte is looked at. */
static int compare_text(const struct profile *profile, string_id a, string_id b)
{
	return a == b ? 0 : strcmp(profile_text(profile, a), profile_text(profile, b));
}

/* Names ascending; what has no binary comes last. */
static int compare_dso(const struct entry_list *list, frame_id a, frame_id b)
{
	const struct profile *profile = list->fold->profile;
	binary_id of_a = list->fold->frames.items[a].binary;
	binary_id of_b = list->fold->frames.items[b].binary;

	if (!of_a || !of_b)
		return (of_b != 0) - (of_a != 0);
	return compare_text(profile, entry_binary_name(list, of_a), entry_binary_name(list, of_b));
}

static function_id function_of(const struct entry_list *list, frame_id frame)
{
	return list->fold->frames.items[frame].function;
}

/* Functions by where they begin and end, and of two binaries by name; then what has no name, by
 * address. */
static int compare_symbol_place(const struct entry_list *list, frame_id a, frame_id b)
{
	const struct profile *profile = list->fold->profile;
	function_id of_a = function_of(list, a), of_b = function_of(list, b);
	int order;

	if (!of_a && !of_b)
		return compare_address(fold_frame_start(list->fold, a),
				       fold_frame_start(list->fold, b));
	if (!of_a || !of_b)
		return of_a ? -1 : 1;
	/* Inlined ones have no place of their own. */
	if (profile->functions.items[of_a].is_inlined || profile->functions.items[of_b].is_inlined)
		return strcmp(fold_frame_name(list->fold, a), fold_frame_name(list->fold, b));
	order = compare_address(profile->functions.items[of_a].start,
				profile->functions.items[of_b].start);
	if (order)
		return order;
	order = compare_address(profile->functions.items[of_a].end,
				profile->functions.items[of_b].end);
	if (order)
		return order;
	return compare_text(profile, profile->functions.items[of_a].name,
			    profile->functions.items[of_b].name);
}

static int compare_symbol_identity(const struct entry_list *list, frame_id a, frame_id b)
{
	bool is_named = function_of(list, a) || function_of(list, b);
	int order = is_named ? compare_dso(list, a, b) : 0;

	return order ? order : compare_symbol_place(list, a, b);
}

static int compare_symbol_name(const struct entry_list *list, frame_id a, frame_id b)
{
	bool has_a = function_of(list, a) != 0, has_b = function_of(list, b) != 0;

	if (!has_a || !has_b)
		return (int)has_b - (int)has_a;
	return strcmp(fold_frame_name(list->fold, a), fold_frame_name(list->fold, b));
}

static u32 tid_of(const struct entry_list *list, const struct entry *entry)
{
	return list->fold->profile->threads.items[entry->thread].tid;
}

/* The keys of branches. perf has their binaries in descending order, and looks at a function's
 * place alone. */
static int compare_branch_key(const struct entry_list *list, u8 field, const struct entry *a,
			      const struct entry *b)
{
	u32 flags_of_a = entry_branch_flags(list, a), flags_of_b = entry_branch_flags(list, b);
	frame_id of_a = entry_key_frame(list, a, field), of_b = entry_key_frame(list, b, field);

	switch (field) {
	case FIELD_DSO_FROM:
	case FIELD_DSO_TO:
		return -compare_dso(list, of_a, of_b);
	case FIELD_SYMBOL_FROM:
	case FIELD_SYMBOL_TO:
		return compare_symbol_place(list, of_a, of_b);
	case FIELD_SRCLINE_FROM:
	case FIELD_SRCLINE_TO:
		return strcmp(entry_source(list, a, field), entry_source(list, b, field));
	case FIELD_CYCLES:
		return -compare_u64(flags_of_a & BRANCH_CYCLES, flags_of_b & BRANCH_CYCLES);
	default:
		return -compare_u64(flags_of_a & entry_field_branch_flags(field),
				    flags_of_b & entry_field_branch_flags(field));
	}
}

/* Most details ascend; what costs more comes first, and so does a parent before none. */
static int compare_detail(const struct entry_list *list, u8 field, const struct entry *a,
			  const struct entry *b)
{
	const struct profile *profile = list->fold->profile;
	enum sample_detail detail = entry_field_detail(field);
	u64 of_a = profile->details.items[a->detail].values[detail];
	u64 of_b = profile->details.items[b->detail].values[detail];

	switch (detail) {
	case DETAIL_PARENT:
		if (!of_a || !of_b)
			return (of_b != 0) - (of_a != 0);
		return compare_text(profile, (string_id)of_a, (string_id)of_b);
	case DETAIL_CONTAINER:
	case DETAIL_UNIT:
	case DETAIL_TRACE:
		return compare_text(profile, (string_id)of_a, (string_id)of_b);
	case DETAIL_COST:
	case DETAIL_TRANSACTION:
	case DETAIL_INSTRUCTION_CYCLES:
		return -compare_address(of_a, of_b);
	case DETAIL_TIME:
	case DETAIL_SOCKET:
	case DETAIL_CGROUP:
	case DETAIL_CODE_PAGE:
	default:
		break;
	}
	return compare_address(of_a, of_b);
}

static int compare_key(const struct entry_list *list, u8 field, const struct entry *a,
		       const struct entry *b)
{
	const struct profile *profile = list->fold->profile;

	if (entry_field_is_of_branches(field))
		return compare_branch_key(list, field, a, b);
	if (entry_field_is_of_memory(field))
		return memory_key_compare(list, field, a, b);
	if (field == FIELD_COMM)
		return compare_text(profile, a->comm, b->comm);
	if (field == FIELD_DSO)
		return compare_dso(list, a->frame, b->frame);
	if (field == FIELD_PID)
		return compare_u64(tid_of(list, a), tid_of(list, b));
	if (field == FIELD_SYMBOL_SIZE)
		return compare_u64(entry_symbol_bytes(list, a), entry_symbol_bytes(list, b));
	if (entry_field_detail(field) != DETAIL_COUNT)
		return compare_detail(list, field, a, b);
	if (field == FIELD_SRCLINE || field == FIELD_SRCFILE)
		return strcmp(entry_source(list, a, field), entry_source(list, b, field));
	return field == FIELD_CPU ? compare_u64(a->cpu, b->cpu) : 0;
}

/* One field, as things are told apart, of entries by their numbers. */
static int compare_field_identity(const struct ordering *ordering, u8 field, u32 a, u32 b)
{
	const struct entry_list *list = ordering->list;
	const struct entry_rank *of_a = &ordering->ranks.rows[a], *of_b = &ordering->ranks.rows[b];
	const struct entry *entries = list->entries.items;

	if (field != FIELD_SYMBOL)
		return compare_key(list, field, &entries[a], &entries[b]);
	if (!of_a->is_named && !of_b->is_named)
		return compare_address(of_a->start, of_b->start);
	return compare_symbol_identity(list, entries[a].frame, entries[b].frame);
}

/* Negative: `left` comes first, as things are told apart. */
static int compare_identity(const void *left, const void *right, void *context)
{
	const struct ordering *ordering = context;
	const struct entry_layout *layout = &ordering->list->settings.layout;
	u32 a = *(const u32 *)left, b = *(const u32 *)right;
	int order = compare_u64(ordering->ranks.rows[a].keys, ordering->ranks.rows[b].keys);

	for (u32 i = ordering->ranks.end; i < layout->order_count && !order; i++)
		order = compare_field_identity(ordering, layout->order[i], a, b);
	return order ? order : compare_u64(a, b);
}

int entry_compare_key(const struct entry_list *list, u8 field, const struct entry *a,
		      const struct entry *b)
{
	if (field == FIELD_SYMBOL)
		return compare_symbol_name(list, a->frame, b->frame);
	return compare_key(list, field, a, b);
}

bool entry_same_key(const struct entry_list *list, u8 field, const struct entry *a,
		    const struct entry *b)
{
	return field == FIELD_SYMBOL ? !compare_symbol_identity(list, a->frame, b->frame)
				     : !compare_key(list, field, a, b);
}

/* Where a member is to decide, the source's figures do not count at all, as in perf. */
int entry_compare_figures(const struct entry_list *list, u8 field, struct entry_figures a,
			  struct entry_figures b)
{
	u32 first = list->settings.sort_member, count = list->settings.member_count;
	int order;

	if (!first || first > count)
		order = -compare_u64(entry_value(a.own, field), entry_value(b.own, field));
	else
		order = -compare_u64(entry_value(&a.others[first - 1], field),
				     entry_value(&b.others[first - 1], field));
	for (u32 i = 0; i < count && !order; i++)
		order = -compare_u64(entry_value(&a.others[i], field),
				     entry_value(&b.others[i], field));
	return order;
}

static u32 *order_by_identity(struct ordering *ordering)
{
	size_t count = ordering->list->entries.count;
	u32 *order = must_alloc_array(count, sizeof(*order));

	for (u32 i = 0; i < count; i++)
		order[i] = i;
	sort_rows(order, count, compare_identity, ordering);
	return order;
}

u32 *entry_order_by_identity(const struct entry_list *list)
{
	struct ordering ordering = {.list = list, .ranks = entry_ranks_make(list)};
	u32 *order = order_by_identity(&ordering);

	entry_ranks_release(&ordering.ranks);
	return order;
}

u32 *entry_order(const struct entry_list *list)
{
	struct ordering ordering = {.list = list, .ranks = entry_ranks_make(list)};
	u32 *order = order_by_identity(&ordering);

	entry_tree_sort(list, &ordering.ranks, order);
	entry_ranks_release(&ordering.ranks);
	return order;
}
