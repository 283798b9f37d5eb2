/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What went from one place to another between recordings: a binary that has another name now, a
 * function that a compiler cut or cloned (foo → foo.isra.0), or that went into another binary.
 *
 * A line that only the baseline has is joined with one that only others have, where one such pair
 * is left and the evidence is clear. In doubt both stay.
 */
#include "profile/comparison_parts.h"
#include "profile/entry_order.h"

#include <ctype.h>
#include <string.h>

struct moving {
	struct comparison *comparison;
	struct compared_dsos dsos;
};

/* --- names --- */

/* How many bytes of a name are left without what compilers append to parts and clones of a
 * function. Source: GCC's clone_function_name() and LLVM's promotion of local symbols for ThinLTO.
 */
static size_t base_length(const char *name)
{
	static const char *const suffixes[] = {".isra",	    ".part", ".cold",	".constprop",
					       ".lto_priv", ".llvm", ".ipa-sra"};
	size_t length = strlen(name);
	bool is_cut = true;

	while (is_cut) {
		size_t end = length;

		while (end && isdigit((unsigned char)name[end - 1]))
			end--;
		if (end && end < length && name[end - 1] == '.')
			end--;
		else
			end = length;
		is_cut = false;
		for (size_t i = 0; i < ARRAY_COUNT(suffixes) && !is_cut; i++) {
			size_t bytes = strlen(suffixes[i]);

			is_cut = end > bytes && !strncmp(name + end - bytes, suffixes[i], bytes);
			if (is_cut)
				length = end - bytes;
		}
	}
	return length;
}

static int compare_base_names(const char *a, const char *b)
{
	size_t of_a = base_length(a), of_b = base_length(b);
	int order = strncmp(a, b, of_a < of_b ? of_a : of_b);

	return order ? order : (of_a > of_b) - (of_a < of_b);
}

static const struct entry *entry_of(const struct comparison *comparison, u32 entry)
{
	const struct entry_list *list;

	return comparison_shown(comparison, entry, &list);
}

static const char *symbol_of(const struct comparison *comparison, u32 entry)
{
	return fold_frame_name(comparison->fold, entry_of(comparison, entry)->frame);
}

/* The name of an entry's binary in the baseline. */
static string_id old_dso_of(const struct moving *moving, u32 entry)
{
	string_id dso = comparison_dso(moving->comparison, entry);
	string_id old = idmap_get(&moving->dsos.old_name, dso);

	return old ? old : dso;
}

/* --- who is where --- */

static bool is_in_base(const struct comparison *comparison, u32 entry)
{
	return comparison_value(comparison, entry, 0)->is_there;
}

/* Whether no side has both. */
static bool are_apart(const struct comparison *comparison, u32 a, u32 b)
{
	return !(comparison_sides(comparison, a) & comparison_sides(comparison, b));
}

static void join(struct comparison *comparison, u32 old, u32 now)
{
	const struct comparison_settings *settings = &comparison->settings;

	for (u32 run = 0; run < settings->run_count; run++)
		comparison_add(&comparison->run_values[(size_t)old * settings->run_count + run],
			       comparison_run_value(comparison, now, run));
	for (u32 side = 0; side < settings->side_count; side++)
		comparison_add(&comparison->side_values[(size_t)old * settings->side_count + side],
			       comparison_value(comparison, now, side));
	comparison->entries.items[old].moved_to = now + 1;
	comparison->entries.items[now].is_joined = true;
}

/* --- passes --- */

enum pass { PASS_BINARY, PASS_CLONE, PASS_ELSEWHERE };

struct passing {
	const struct moving *moving;
	enum pass pass;
};

static int compare_symbols(const struct passing *passing, u32 a, u32 b)
{
	const struct comparison *comparison = passing->moving->comparison;
	bool named_a = comparison_is_named(comparison, entry_of(comparison, a));
	bool named_b = comparison_is_named(comparison, entry_of(comparison, b));

	if (!named_a || !named_b)
		return (int)named_b - (int)named_a;
	if (passing->pass == PASS_CLONE)
		return compare_base_names(symbol_of(comparison, a), symbol_of(comparison, b));
	return strcmp(symbol_of(comparison, a), symbol_of(comparison, b));
}

static int compare_dsos(const struct passing *passing, u32 a, u32 b)
{
	string_id of_a = old_dso_of(passing->moving, a), of_b = old_dso_of(passing->moving, b);

	if (passing->pass == PASS_ELSEWHERE)
		return 0;
	return (of_a > of_b) - (of_a < of_b);
}

/* Compares what is left of the keys when one of them may have changed. */
static int compare_rest(const void *left, const void *right, void *context)
{
	const struct passing *passing = context;
	const struct comparison *comparison = passing->moving->comparison;
	const struct entry_layout *layout = &comparison->settings.list.layout;
	u32 a = *(const u32 *)left, b = *(const u32 *)right;
	const struct entry_list *list;
	const struct entry *of_a = comparison_shown(comparison, a, &list);
	int order = 0;

	for (u32 i = 0; i < layout->order_count && !order; i++) {
		u8 field = layout->order[i];

		if (field == FIELD_SYMBOL)
			order = compare_symbols(passing, a, b);
		else if (field == FIELD_DSO)
			order = compare_dsos(passing, a, b);
		else if (entry_field_is_key(field))
			order = entry_compare_key(list, field, of_a, entry_of(comparison, b));
	}
	return order;
}

/* Names that every program has tell nothing. */
static bool is_common_name(const char *name)
{
	static const char *const names[] = {"main", "_start", "_init", "_fini", "init", "run"};

	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* A function went into another binary if the one it was in is still there without it, and the
 * thread is of the same name. */
static bool went_elsewhere(const struct moving *moving, u32 old, u32 now)
{
	const struct comparison *comparison = moving->comparison;
	u32 row = idmap_get(&moving->dsos.row_of, comparison_dso(comparison, old));

	return entry_of(comparison, old)->comm == entry_of(comparison, now)->comm &&
	       !is_common_name(symbol_of(comparison, old)) &&
	       (moving->dsos.rows.items[row - 1].sides & comparison_sides(comparison, now));
}

static bool is_clear(const struct passing *passing, u32 old, u32 now)
{
	const struct comparison *comparison = passing->moving->comparison;
	bool is_named = comparison_is_named(comparison, entry_of(comparison, old));

	if (!are_apart(comparison, old, now))
		return false;
	switch (passing->pass) {
	case PASS_BINARY:
		return comparison_dso(comparison, old) != comparison_dso(comparison, now);
	case PASS_CLONE:
		return is_named;
	case PASS_ELSEWHERE:
		break;
	}
	return is_named && went_elsewhere(passing->moving, old, now);
}

/* Joins the only old one and the only new one of a group that reads the same. */
static void join_group(const struct passing *passing, const u32 *group, size_t count)
{
	struct comparison *comparison = passing->moving->comparison;
	u32 old = 0, now = 0, old_count = 0, now_count = 0;

	for (size_t i = 0; i < count; i++) {
		if (is_in_base(comparison, group[i])) {
			old = group[i];
			old_count++;
		} else {
			now = group[i];
			now_count++;
		}
	}
	if (old_count == 1 && now_count == 1 && is_clear(passing, old, now))
		join(comparison, old, now);
}

static void run_pass(const struct moving *moving, enum pass pass)
{
	struct passing passing = {moving, pass};
	struct comparison *comparison = moving->comparison;
	CLEANUP(freep) u32 *rows = must_alloc_array(comparison->entries.count, sizeof(*rows));
	size_t count = 0;

	for (u32 entry = 0; entry < comparison->entries.count; entry++)
		if (!comparison->entries.items[entry].is_joined)
			rows[count++] = entry;
	qsort_r(rows, count, sizeof(*rows), compare_rest, &passing);
	for (size_t first = 0, end; first < count; first = end) {
		end = first + 1;
		while (end < count && !compare_rest(&rows[first], &rows[end], &passing))
			end++;
		join_group(&passing, rows + first, end - first);
	}
}

/* --- all of it --- */

void comparison_join_moved(struct comparison *comparison)
{
	const struct entry_layout *layout = &comparison->settings.list.layout;
	bool has_dso = entry_layout_has_key(layout, FIELD_DSO);
	bool has_symbol = entry_layout_has_key(layout, FIELD_SYMBOL);
	struct moving moving = {.comparison = comparison};

	if (!has_dso && !has_symbol)
		return;
	compared_dsos_find(comparison, &moving.dsos);
	if (has_dso)
		run_pass(&moving, PASS_BINARY);
	if (has_symbol)
		run_pass(&moving, PASS_CLONE);
	if (has_dso && has_symbol)
		run_pass(&moving, PASS_ELSEWHERE);
	compared_dsos_release(&moving.dsos);
}
