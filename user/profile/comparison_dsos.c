/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Binaries that have another name on other sides than in the baseline: of the same build, or with
 * the same functions.
 */
#include "profile/comparison_parts.h"

/* A binary without build id, or of another build, is known by its functions: so many must be common
 * to both, and so much of the time of each must be theirs. */
enum { COMMON_FUNCTIONS_MIN = 4, COMMON_PERCENT_MIN = 90 };

/* What a function used in two binaries. */
struct shared_function {
	u64 old_period, now_period;
};

u64 comparison_sides(const struct comparison *comparison, u32 entry)
{
	u64 sides = 0;

	for (u32 side = 0; side < comparison->settings.side_count; side++)
		if (comparison_value(comparison, entry, side)->is_there)
			sides |= 1ull << (side ? 1 + (side - 1) % 63 : 0);
	return sides;
}

static frame_id frame_of(const struct comparison *comparison, u32 entry)
{
	const struct entry_list *list;

	return comparison_shown(comparison, entry, &list)->frame;
}

static binary_id binary_of(const struct comparison *comparison, u32 entry)
{
	return comparison->fold->frames.items[frame_of(comparison, entry)].binary;
}

string_id comparison_dso(const struct comparison *comparison, u32 entry)
{
	const struct entry_list *list;

	comparison_shown(comparison, entry, &list);
	return entry_binary_name(list, binary_of(comparison, entry));
}

static u64 period_of(const struct comparison *comparison, u32 entry)
{
	u64 period = 0;

	for (u32 side = 0; side < comparison->settings.side_count; side++)
		period += comparison_value(comparison, entry, side)->period;
	return period;
}

static string_id name_of(const struct comparison *comparison, u32 entry)
{
	const struct fold *fold = comparison->fold;
	const struct folded_frame *frame = &fold->frames.items[frame_of(comparison, entry)];
	const struct function_row *function = &fold->profile->functions.items[frame->function];

	return function->is_anonymous ? 0 : function->name;
}

static void add_dso(const struct comparison *comparison, struct compared_dsos *dsos, u32 entry)
{
	string_id name = comparison_dso(comparison, entry);
	u32 *place = idmap_place(&dsos->row_of, name);
	struct compared_dso *dso;

	if (!*place) {
		*vec_add(&dsos->rows) = (struct compared_dso){
			.name = name,
			.build = comparison->builds[binary_of(comparison, entry)],
		};
		*place = (u32)dsos->rows.count;
	}
	dso = &dsos->rows.items[*place - 1];
	dso->sides |= comparison_sides(comparison, entry);
	dso->period += period_of(comparison, entry);
	dso->functions += name_of(comparison, entry) != 0;
}

/* --- the same functions --- */

struct functions {
	struct idmap row_of; /* by name, from 1 */
	VEC(struct shared_function) rows;
};

static struct shared_function *function_row(struct functions *functions, string_id name)
{
	u32 *place = idmap_place(&functions->row_of, name);

	if (!*place) {
		*vec_add(&functions->rows) = (struct shared_function){0};
		*place = (u32)functions->rows.count;
	}
	return &functions->rows.items[*place - 1];
}

static bool have_same_functions(const struct comparison *comparison, const struct compared_dso *old,
				const struct compared_dso *now)
{
	struct functions functions = {0};
	u64 old_period = 0, now_period = 0;
	u32 common = 0;

	for (u32 entry = 0; entry < comparison->entries.count; entry++) {
		string_id dso = comparison_dso(comparison, entry);
		string_id name = name_of(comparison, entry);

		if (name && dso == old->name)
			function_row(&functions, name)->old_period += period_of(comparison, entry);
		else if (name && dso == now->name)
			function_row(&functions, name)->now_period += period_of(comparison, entry);
	}
	for (size_t i = 0; i < functions.rows.count; i++) {
		const struct shared_function *row = &functions.rows.items[i];

		if (!row->old_period || !row->now_period)
			continue;
		common++;
		old_period += row->old_period;
		now_period += row->now_period;
	}
	vec_release(&functions.rows);
	idmap_release(&functions.row_of);
	return common >= COMMON_FUNCTIONS_MIN &&
	       old_period / 100 >= old->period / 100 * COMMON_PERCENT_MIN / 100 &&
	       now_period / 100 >= now->period / 100 * COMMON_PERCENT_MIN / 100;
}

/* --- pairs --- */

/* Whether all says that one is the other under another name. */
static bool is_renamed(const struct comparison *comparison, const struct compared_dso *old,
		       const struct compared_dso *now)
{
	const struct binary_row *binary = &comparison->fold->profile->binaries.items[now->build];

	if (!(old->sides & 1) || (old->sides & now->sides))
		return false;
	if (old->build == now->build && binary->build_id_bytes)
		return true;
	if (old->functions < COMMON_FUNCTIONS_MIN || now->functions < COMMON_FUNCTIONS_MIN)
		return false;
	return have_same_functions(comparison, old, now);
}

/* The only one that may have been this one; NULL: none, or several. */
static const struct compared_dso *find_old(const struct comparison *comparison,
					   const struct compared_dsos *dsos,
					   const struct compared_dso *now)
{
	const struct compared_dso *found = NULL;

	for (size_t i = 0; i < dsos->rows.count; i++) {
		const struct compared_dso *old = &dsos->rows.items[i];

		if (!is_renamed(comparison, old, now))
			continue;
		if (found)
			return NULL;
		found = old;
	}
	return found;
}

void compared_dsos_find(const struct comparison *comparison, struct compared_dsos *ret_dsos)
{
	struct compared_dsos *dsos = ret_dsos;
	struct idmap claims = {0}; /* how many may have been one of the baseline's */
	CLEANUP(freep) string_id *old_names = NULL;

	for (u32 entry = 0; entry < comparison->entries.count; entry++)
		add_dso(comparison, dsos, entry);
	old_names = must_alloc_array(dsos->rows.count, sizeof(*old_names));
	for (size_t i = 0; i < dsos->rows.count; i++) {
		const struct compared_dso *now = &dsos->rows.items[i];
		const struct compared_dso *old = now->sides & 1 ? NULL
								: find_old(comparison, dsos, now);

		if (!old)
			continue;
		old_names[i] = old->name;
		++*idmap_place(&claims, old->name);
	}
	for (size_t i = 0; i < dsos->rows.count; i++)
		if (old_names[i] && idmap_get(&claims, old_names[i]) == 1)
			*idmap_place(&dsos->old_name, dsos->rows.items[i].name) = old_names[i];
	idmap_release(&claims);
}

void compared_dsos_release(struct compared_dsos *dsos)
{
	vec_release(&dsos->rows);
	idmap_release(&dsos->row_of);
	idmap_release(&dsos->old_name);
}
