/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions sorted by address, each with the place of its entry; an entry's program is run when the
 * first address of its function is asked for.
 */
#include "unwind/function_rules.h"

#include "base/address_index.h"
#include "base/memory.h"
#include "base/sort.h"
#include "unwind/cfi_sections.h"

#include <stdlib.h>

enum { ENTRY_BYTES = 128 }; /* what a program begins with, at most; see rows.c */

enum source { FROM_EH_FRAME, FROM_ENTRY, FROM_DEBUG_FRAME };

struct function {
	struct function_bound bound; /* begins with the start */
	u64 entry;		     /* offset in its section */
	u8 source;		     /* enum source */
	u32 first_rule, rule_count;  /* 0, 0: they were not read yet, or there are none */
};

struct placed_rule {
	u64 start;
	struct unwind_rule rule;
};

struct function_rules {
	struct cfi_sections sections;
	VEC(struct function) functions; /* ascending */
	struct address_index starts;	/* of them */
	VEC(struct function_bound) bounds;
	u64 entry;			/* of the function that is being read */
	u8 source;			/* the same */
	VEC(struct placed_rule) placed; /* of the functions that were asked for */
	struct unwind_rule none, outermost;
};

static int list_function(void *context, u64 start, u64 end)
{
	struct function_rules *rules = context;

	*vec_add(&rules->functions) = (struct function){
		.bound = {start, end},
		.entry = rules->entry,
		.source = rules->source,
	};
	return 1; /* its rules are not wanted yet */
}

static void ignore_rule(void *context, u64 start, const struct unwind_rule *rule)
{
	(void)context, (void)start, (void)rule;
}

/* What is malformed has been listed up to there. */
static void list_section(struct function_rules *rules, const struct cfi_section *section, u8 source)
{
	const struct cfi_taker taker = {list_function, ignore_rule, rules, &rules->entry};
	struct cfi_result result = {0};

	rules->source = source;
	if (section->bytes.length)
		(void)cfi_read(section, &taker, &result);
}

static bool is_sorted(const struct function_rules *rules)
{
	for (size_t i = 1; i < rules->functions.count; i++)
		if (rules->functions.items[i - 1].bound.start >
		    rules->functions.items[i].bound.start)
			return false;
	return true;
}

/* By start; those with the same one stay in the order of reading. */
static void sort_functions(struct function_rules *rules)
{
	size_t count = rules->functions.count;
	CLEANUP(freep) struct sort_key *keys = must_alloc_array(count, sizeof(*keys));
	CLEANUP(freep) struct sort_key *other = must_alloc_array(count, sizeof(*other));
	struct function *sorted = must_alloc_array(count, sizeof(*sorted));
	const struct sort_key *in_order;

	for (u32 i = 0; i < count; i++)
		keys[i] = (struct sort_key){rules->functions.items[i].bound.start, i};
	in_order = sort_by_key(keys, other, count);
	for (size_t i = 0; i < count; i++)
		sorted[i] = rules->functions.items[in_order[i].row];
	free(rules->functions.items);
	rules->functions.items = sorted;
	rules->functions.capacity = count;
}

/* Keeps one function of those with the same start, the last; and of what is not from .eh_frame that
 * which .eh_frame does not cover. */
static void leave_out_covered(struct function_rules *rules)
{
	struct function *functions = rules->functions.items;
	size_t kept = 0;
	u64 covered = 0;

	for (size_t i = 0; i < rules->functions.count; i++) {
		struct function function = functions[i];

		if (function.source != FROM_EH_FRAME && function.bound.start < covered)
			continue;
		if (function.source == FROM_EH_FRAME)
			covered = function.bound.end;
		if (kept && functions[kept - 1].bound.start == function.bound.start)
			kept--;
		functions[kept++] = function;
	}
	rules->functions.count = kept;
}

struct function_rules *function_rules_new(struct bytes image)
{
	struct function_rules *rules = must_alloc(sizeof(*rules));

	rules->none.cfa_kind = CFA_NONE;
	rules->outermost.cfa_kind = CFA_END;
	if (cfi_sections_open(image, &rules->sections))
		return rules;
	list_section(rules, &rules->sections.eh_frame, FROM_EH_FRAME);
	rules->source = FROM_ENTRY;
	if (rules->sections.entry)
		list_function(rules, rules->sections.entry, rules->sections.entry + ENTRY_BYTES);
	list_section(rules, &rules->sections.debug_frame, FROM_DEBUG_FRAME);
	if (!is_sorted(rules))
		sort_functions(rules);
	leave_out_covered(rules);
	address_index_make(&rules->starts, rules->functions.items, rules->functions.count,
			   sizeof(*rules->functions.items));
	vec_reserve(&rules->bounds, rules->functions.count);
	for (size_t i = 0; i < rules->functions.count; i++) {
		const struct function *function = &rules->functions.items[i];

		if (function->source != FROM_ENTRY)
			*vec_add(&rules->bounds) = function->bound;
	}
	return rules;
}

void function_rules_free(struct function_rules *rules)
{
	if (!rules)
		return;
	cfi_sections_close(&rules->sections);
	vec_release(&rules->functions);
	address_index_release(&rules->starts);
	vec_release(&rules->bounds);
	vec_release(&rules->placed);
	free(rules);
}

const struct function_bound *function_rules_bounds(const struct function_rules *rules,
						   size_t *ret_count)
{
	*ret_count = rules->bounds.count;
	return rules->bounds.items;
}

/* --- one function --- */

static struct function *function_at(const struct function_rules *rules, u64 address)
{
	struct function *functions = rules->functions.items;
	size_t low, high;

	address_index_narrow(&rules->starts, address, &low, &high);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (functions[middle].bound.start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < functions[low - 1].bound.end ? &functions[low - 1] : NULL;
}

const struct function_bound *function_rules_bound(const struct function_rules *rules, u64 address)
{
	const struct function *function = function_at(rules, address);

	return function && function->source != FROM_ENTRY ? &function->bound : NULL;
}

static int want_function(void *context, u64 start, u64 end)
{
	(void)context, (void)start, (void)end;
	return 0;
}

static void take_rule(void *context, u64 start, const struct unwind_rule *rule)
{
	struct function_rules *rules = context;

	*vec_add(&rules->placed) = (struct placed_rule){start, *rule};
}

static void read_function(struct function_rules *rules, struct function *function)
{
	const struct cfi_taker taker = {want_function, take_rule, rules, NULL};
	const struct cfi_section *section = function->source == FROM_EH_FRAME
						    ? &rules->sections.eh_frame
						    : &rules->sections.debug_frame;
	struct cfi_result result = {0};

	function->first_rule = (u32)rules->placed.count;
	(void)cfi_read_entry(section, function->entry, &taker, &result);
	function->rule_count = (u32)rules->placed.count - function->first_rule;
}

/* To where rule `index` of a function holds: another rule, another function, or its end. */
static u64 rule_end(const struct function_rules *rules, const struct function *function, u32 index)
{
	const struct function *next = function + 1;
	u64 end = function->bound.end;

	if (next < rules->functions.items + rules->functions.count && next->bound.start < end)
		end = next->bound.start;
	if (++index < function->rule_count) {
		u64 start = rules->placed.items[function->first_rule + index].start;

		end = start < end ? start : end;
	}
	return end;
}

/* Rules ascend: the last one in front of the address holds there. */
const struct unwind_rule *function_rules_find_span(struct function_rules *rules, u64 address,
						   struct function_bound *ret_span)
{
	struct function *function = function_at(rules, address);
	const struct placed_rule *placed;
	u32 low = 0, high;

	*ret_span = (struct function_bound){0};
	if (!function)
		return &rules->none;
	if (function->source == FROM_ENTRY)
		return &rules->outermost;
	if (!function->rule_count)
		read_function(rules, function);
	placed = rules->placed.items + function->first_rule;
	for (high = function->rule_count; low < high;) {
		u32 middle = low + (high - low) / 2;

		if (placed[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return &rules->none;
	ret_span->start = placed[low - 1].start > function->bound.start ? placed[low - 1].start
									: function->bound.start;
	ret_span->end = rule_end(rules, function, low - 1);
	return &placed[low - 1].rule;
}

const struct unwind_rule *function_rules_find(struct function_rules *rules, u64 address)
{
	struct function_bound span;

	return function_rules_find_span(rules, address, &span);
}
