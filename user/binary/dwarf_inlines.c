/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which functions of a unit are at wanted addresses.
 *
 * The tree of DIEs is walked once for all addresses. Of the functions that say they have an address
 * the one whose range begins last counts, and of several the last one: that is the innermost, and
 * where ranges contradict each other llvm-symbolizer's choice. Those around it are its callers. A
 * function that has none of the addresses is skipped with all that is in it; what has no code of
 * its own (classes, namespaces, blocks) may hold functions that have.
 *
 * Hostile DWARF can lead a reader round and round: siblings that lie behind, lists of ranges that
 * are everybody's. Each step is paid for in bytes out of a budget that the unit's size sets.
 */
#include "binary/dwarf_inlines.h"

#include <dwarf.h>
#include <string.h>

enum {
	NESTING_MAX = 512,     /* of DIEs; compilers' are some 30 deep */
	BUDGET_OF_A_BYTE = 64, /* a DIE is passed once for each level around it, at most */
	BUDGET_OF_AN_ADDRESS = 64,
	BUDGET_OF_A_UNIT = 1 << 16,
	PRICE_OF_A_RANGE = 16,
	REFERENCES_MAX = 16, /* from copy to original; compilers write three */
};

enum code { CODE_NONE, CODE_ELSEWHERE, CODE_WANTED };

/* Where the walk is on one level. */
struct level {
	Dwarf_Die die;
	u32 function; /* around it */
};

struct walk {
	const u64 *addresses;
	u64 *starts; /* of the ranges that have them, as far as is known */
	u32 count;
	struct dwarf_inlines *inlines;
	u64 budget;
	struct dwarf_root *root;
	u32 version;
	bool is_nested; /* functions have the code of those inside of them */
	u32 depth;
	struct level levels[NESTING_MAX];
};

static bool pay(struct walk *walk, u64 bytes)
{
	bool can_pay = bytes <= walk->budget;

	walk->inlines->is_damaged |= !can_pay;
	walk->budget = can_pay ? walk->budget - bytes : 0;
	return can_pay;
}

/* The first address that is not below `start`. */
static u32 first_from(const struct walk *walk, u64 start)
{
	u32 low = 0, high = walk->count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (walk->addresses[middle] < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Gives the addresses in [start, end) to a function; whether there are any. */
static bool give(struct walk *walk, u64 start, u64 end, u32 function)
{
	u32 first = first_from(walk, start), at = first;

	for (; at < walk->count && walk->addresses[at] < end && pay(walk, 1); at++) {
		if (start < walk->starts[at])
			continue;
		walk->starts[at] = start;
		walk->inlines->innermost[at] = function;
	}
	return at > first;
}

/* Where list `index` is in .debug_rnglists: behind its header are the offsets of all lists, from
 * there. 0: nowhere. Source: DWARF 5, 7.28. */
static u64 list_offset(const struct dwarf_root *root, u64 index)
{
	struct cursor cursor = cursor_of(root->lists);
	u64 offset_bytes = sizeof(u32), base, offset;

	cursor.swap = root->swap;
	if (cursor_u32(&cursor) == ~(u32)0) {
		cursor_u64(&cursor);
		offset_bytes = sizeof(u64);
	}
	/* Version, sizes of an address and a segment selector, how many lists. */
	cursor_take(&cursor, 4);
	if (index >= cursor_u32(&cursor))
		return 0;
	base = (u64)(cursor.next - root->lists.start);
	cursor_take(&cursor, index * offset_bytes);
	offset = offset_bytes == sizeof(u64) ? cursor_u64(&cursor) : cursor_u32(&cursor);
	return cursor.overrun || offset > root->lists.length ? 0 : base + offset;
}

/* Where the ranges of a function in a split unit begin, and what they are relative to. */
static ptrdiff_t begin_ranges(const struct walk *walk, Dwarf_Die *die, Dwarf_Addr *ret_base)
{
	Dwarf_Attribute attribute;
	Dwarf_Word offset;

	if (!dwarf_attr(die, DW_AT_ranges, &attribute) || dwarf_formudata(&attribute, &offset))
		return 0;
	*ret_base = walk->root->base;
	if (walk->version < 5)
		return (ptrdiff_t)offset + DWARF_RANGES_SHIFT;
	return (ptrdiff_t)(attribute.form == DW_FORM_rnglistx ? list_offset(walk->root, offset)
							      : offset);
}

/* Gives a function the addresses that it has. */
static enum code give_code(struct walk *walk, Dwarf_Die *die, u32 function)
{
	enum code code = CODE_NONE;
	Dwarf_Addr base = 0, start, end;
	ptrdiff_t next = 0;

	if (walk->root->is_split && dwarf_hasattr(die, DW_AT_ranges))
		next = begin_ranges(walk, die, &base);
	while ((next = dwarf_ranges(die, next, &base, &start, &end)) > 0 &&
	       pay(walk, PRICE_OF_A_RANGE)) {
		if (give(walk, start, end, function))
			code = CODE_WANTED;
		else if (code == CODE_NONE)
			code = CODE_ELSEWHERE;
	}
	return code;
}

/* Looks at the function on this level; false if what is in it need not be looked at. */
static bool enter_function(struct walk *walk, struct level *level, int tag, u32 *ret_inside)
{
	u32 row = (u32)walk->inlines->rows.count;
	enum code code = give_code(walk, &level->die, row);

	*ret_inside = level->function;
	if (code == CODE_NONE || (code == CODE_ELSEWHERE && walk->is_nested))
		return code == CODE_NONE;
	*vec_add(&walk->inlines->rows) = (struct dwarf_function){
		.die = level->die, .caller = tag == DW_TAG_subprogram ? 0 : level->function};
	*ret_inside = row;
	return true;
}

/* Whether functions can be inside of the DIE on this level, and which one is around them. */
static bool enter(struct walk *walk, struct level *level, u32 *ret_inside)
{
	int tag = dwarf_tag(&level->die);

	*ret_inside = level->function;
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
		return enter_function(walk, level, tag, ret_inside);
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_compile_unit:
	case DW_TAG_partial_unit:
	case DW_TAG_skeleton_unit:
		return true;
	case DW_TAG_invalid:
		walk->inlines->is_damaged = true;
		return false;
	default:
		return false;
	}
}

/* To the next DIE on this level; false if it is the last one, or can't be paid for. */
static bool step(struct walk *walk, struct level *level)
{
	Dwarf_Off here = dwarf_dieoffset(&level->die), next;
	Dwarf_Die sibling;
	int end = dwarf_siblingof(&level->die, &sibling);

	walk->inlines->is_damaged |= end < 0;
	if (end)
		return false;
	next = dwarf_dieoffset(&sibling);
	if (next <= here)
		walk->budget = 0;
	level->die = sibling;
	return pay(walk, next - here);
}

/* To the next DIE that is not inside of this level's, maybe on a level above. */
static void leave(struct walk *walk)
{
	/* The first DIE has no siblings. */
	while (walk->depth > 1 && !step(walk, &walk->levels[walk->depth - 1]))
		walk->depth--;
	if (walk->depth == 1)
		walk->depth = 0;
}

static bool has_child(struct walk *walk, struct level *level, Dwarf_Die *ret_child)
{
	int none = dwarf_child(&level->die, ret_child);

	walk->inlines->is_damaged |= none < 0;
	return !none;
}

static void walk_unit(struct walk *walk)
{
	walk->levels[0] = (struct level){.die = walk->root->die};
	walk->depth = 1;
	while (walk->depth && pay(walk, 1)) {
		struct level *level = &walk->levels[walk->depth - 1];
		Dwarf_Die child;
		u32 inside;

		if (!enter(walk, level, &inside) || walk->depth == NESTING_MAX ||
		    !has_child(walk, level, &child)) {
			leave(walk);
			continue;
		}
		walk->levels[walk->depth++] = (struct level){.die = child, .function = inside};
	}
}

/* What the header of the unit tells. */
static void read_header(struct walk *walk)
{
	Dwarf_Die *unit = &walk->root->die;
	Dwarf_Off start = dwarf_dieoffset(unit) - dwarf_cuoffset(unit), next;
	size_t header_bytes;
	Dwarf_Half version;

	if (dwarf_next_unit(dwarf_cu_getdwarf(unit->cu), start, &next, &header_bytes, &version,
			    NULL, NULL, NULL, NULL, NULL) ||
	    next <= start)
		return;
	walk->budget = BUDGET_OF_A_UNIT + BUDGET_OF_A_BYTE * (next - start) +
		       (u64)BUDGET_OF_AN_ADDRESS * walk->count;
	/* DWARF 2 had no lists of ranges: the cold part of a function is nowhere, but not what was
	 * inlined into it. */
	walk->is_nested = version > 2;
	walk->version = version;
}

void dwarf_inlines_read(struct dwarf_root *root, const u64 *addresses, u32 count,
			struct dwarf_inlines *ret_inlines)
{
	struct dwarf_inlines inlines = {.innermost = must_alloc_array(count, sizeof(u32))};
	CLEANUP(freep) struct walk *walk = must_alloc(sizeof(*walk));
	CLEANUP(freep) u64 *starts = must_alloc_array(count, sizeof(*starts));

	*vec_add(&inlines.rows) = (struct dwarf_function){0};
	walk->addresses = addresses;
	walk->count = count;
	walk->inlines = &inlines;
	walk->starts = starts;
	walk->root = root;
	read_header(walk);
	walk_unit(walk);
	*ret_inlines = inlines;
}

void dwarf_inlines_release(struct dwarf_inlines *inlines)
{
	vec_release(&inlines->rows);
	free(inlines->innermost);
	*inlines = (struct dwarf_inlines){0};
}

/* libdw up to 0.188 at least follows a reference to dwz's file only by the name that GNU gave its
 * form before DWARF 5, which is as long as an offset in the unit. */
static void use_older_name(Dwarf_Die *die, Dwarf_Attribute *reference)
{
	u8 reference_bytes = reference->form == DW_FORM_ref_sup4   ? 4
			     : reference->form == DW_FORM_ref_sup8 ? 8
								   : 0;
	u8 offset_bytes;
	Dwarf_Die unit;

	if (reference_bytes && dwarf_diecu(die, &unit, NULL, &offset_bytes) &&
	    offset_bytes == reference_bytes)
		reference->form = DW_FORM_GNU_ref_alt;
}

/* The DIE that this one is a copy or the definition of. */
static bool original_of(Dwarf_Die *die, Dwarf_Die *ret_original)
{
	Dwarf_Attribute attribute;

	if (!dwarf_attr(die, DW_AT_abstract_origin, &attribute) &&
	    !dwarf_attr(die, DW_AT_specification, &attribute))
		return false;
	use_older_name(die, &attribute);
	return dwarf_formref_die(&attribute, ret_original);
}

static const char *text_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

static void read_linkage_name(Dwarf_Die *die, const char **ret_name)
{
	*ret_name = text_of(die, DW_AT_linkage_name);
	if (!*ret_name)
		*ret_name = text_of(die, DW_AT_MIPS_linkage_name);
}

static void read_source_name(Dwarf_Die *die, const char **ret_name)
{
	*ret_name = text_of(die, DW_AT_name);
}

/* The first that `read` finds from a DIE over those that it is a copy of; in the file's strings. */
static const char *inherited(Dwarf_Die *die, void (*read)(Dwarf_Die *die, const char **ret_name))
{
	Dwarf_Die current = *die, original;
	const char *name = NULL;

	for (u32 i = 0; i < REFERENCES_MAX && !name; i++) {
		read(&current, &name);
		if (!name && !original_of(&current, &original))
			break;
		if (!name)
			current = original;
	}
	return name;
}

const char *dwarf_function_name(Dwarf_Die *die)
{
	const char *name = inherited(die, read_linkage_name);

	return name ? name : inherited(die, read_source_name);
}
