/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of a binary, their exits, and what call frame information says at an address.
 */
#include "lbr/code_facts.h"

#include "lbr/code_callers.h"
#include "lbr/code_kinds.h"
#include "lbr/kept_callers.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { SEEN_TEXT_BYTES = 64 }; /* of text at once: more than an instruction */

/* --- where functions begin and end --- */

/* The surer a source, the lower: it wins where two overlap. */
enum bound_source { FROM_STUB, FROM_CFI, FROM_SYMBOL };

struct bound {
	u64 start, end; /* end 0: unknown */
	u8 source;	/* enum bound_source */
};

struct bounds {
	VEC(struct bound) items;
};

static int compare_bounds(const void *left, const void *right)
{
	const struct bound *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->source - b->source;
}

static void add_bound(struct bounds *bounds, u64 start, u64 end, u8 source)
{
	if (start < end || !end)
		*vec_add(&bounds->items) = (struct bound){start, end, source};
}

static void add_stubs(const struct code_image *image, struct bounds *bounds)
{
	for (size_t i = 0; i < image->stubs.count; i++) {
		const struct code_stubs *stubs = &image->stubs.items[i];
		u64 bytes = code_image_text_left(image, stubs->address);

		if (bytes > stubs->bytes)
			bytes = stubs->bytes;
		for (u64 at = 0; at + stubs->stub_bytes <= bytes; at += stubs->stub_bytes)
			add_bound(bounds, stubs->address + at,
				  stubs->address + at + stubs->stub_bytes, FROM_STUB);
	}
}

/* Most symbols are of functions that call frame information knows, and say nothing new. */
static void add_symbols(const struct code_facts *facts, struct bounds *bounds)
{
	for (size_t i = 0; i < facts->image.symbols.count; i++) {
		const struct code_symbol *symbol = &facts->image.symbols.items[i];
		u64 end = symbol->bytes ? symbol->address + symbol->bytes : 0;

		if (!function_rules_bound(facts->rules, symbol->address))
			add_bound(bounds, symbol->address, end, FROM_SYMBOL);
	}
}

/* What is malformed leaves gaps, of which nothing is concluded. */
static void add_frames(const struct code_facts *facts, struct bounds *bounds)
{
	size_t count;
	const struct function_bound *frames = function_rules_bounds(facts->rules, &count);

	vec_reserve(&bounds->items, count);
	for (size_t i = 0; i < count; i++)
		add_bound(bounds, frames[i].start, frames[i].end, FROM_CFI);
}

/* Puts two lists together that are sorted. */
static void merge_bounds(const struct bounds *left, const struct bounds *right,
			 struct bounds *ret_bounds)
{
	size_t at = 0;

	vec_reserve(&ret_bounds->items, left->items.count + right->items.count);
	for (size_t i = 0; i < left->items.count; i++) {
		while (at < right->items.count &&
		       compare_bounds(&right->items.items[at], &left->items.items[i]) < 0)
			*vec_add(&ret_bounds->items) = right->items.items[at++];
		*vec_add(&ret_bounds->items) = left->items.items[i];
	}
	while (at < right->items.count)
		*vec_add(&ret_bounds->items) = right->items.items[at++];
}

/* Call frame information knows most functions, in order. */
static void gather_bounds(const struct code_facts *facts, struct bounds *bounds)
{
	struct bounds frames = {0}, others = {0};

	add_frames(facts, &frames);
	add_stubs(&facts->image, &others);
	add_symbols(facts, &others);
	if (others.items.count)
		qsort(others.items.items, others.items.count, sizeof(*others.items.items),
		      compare_bounds);
	merge_bounds(&frames, &others, bounds);
	vec_release(&frames.items);
	vec_release(&others.items);
}

static void add_function(struct code_facts *facts, u64 start, u64 end, u32 flags)
{
	if (start >= end)
		return;
	*vec_add(&facts->functions) = (struct code_function){
		.start = start,
		.end = end,
		.flags = flags,
		.jumps_from = NO_FUNCTION,
	};
}

/* Cuts one executable segment into functions and gaps. */
static void cut_segment(struct code_facts *facts, const struct code_segment *segment,
			const struct bounds *bounds)
{
	u64 at = segment->address, end = segment->address + segment->bytes;

	for (size_t i = 0; i < bounds->items.count; i++) {
		const struct bound *bound = &bounds->items.items[i];
		u64 next = i + 1 < bounds->items.count ? bounds->items.items[i + 1].start : end;
		u64 bound_end = bound->end ? bound->end : next;

		if (bound->start < at || bound->start >= end)
			continue;
		add_function(facts, at, bound->start, FUNCTION_IS_GAP);
		if (bound_end > end)
			bound_end = end;
		add_function(facts, bound->start, bound_end,
			     bound->source == FROM_STUB ? FUNCTION_IS_STUB : 0);
		at = bound_end > bound->start ? bound_end : bound->start;
	}
	add_function(facts, at, end, FUNCTION_IS_GAP);
}

static int compare_functions(const void *left, const void *right)
{
	const struct code_function *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

static bool is_ascending(const struct code_facts *facts)
{
	for (size_t i = 1; i < facts->functions.count; i++)
		if (facts->functions.items[i].start < facts->functions.items[i - 1].end)
			return false;
	return true;
}

static void cut_functions(struct code_facts *facts)
{
	const struct code_image *image = &facts->image;
	struct bounds bounds = {0};

	gather_bounds(facts, &bounds);
	vec_reserve(&facts->functions, 2 * bounds.items.count); /* with gaps in between */
	for (size_t i = 0; i < image->segments.count; i++)
		if (image->segments.items[i].is_executable)
			cut_segment(facts, &image->segments.items[i], &bounds);
	vec_release(&bounds.items);
	if (!is_ascending(facts))
		qsort(facts->functions.items, facts->functions.count,
		      sizeof(*facts->functions.items), compare_functions);
	address_index_make(&facts->starts, facts->functions.items, facts->functions.count,
			   sizeof(*facts->functions.items));
	for (size_t i = 0; i < image->symbols.count; i++) {
		u32 function = code_facts_function(facts, image->symbols.items[i].address);

		if (image->symbols.items[i].is_exported && function != NO_FUNCTION)
			facts->functions.items[function].flags |= FUNCTION_IS_EXPORTED;
	}
}

u32 code_facts_function(const struct code_facts *facts, u64 address)
{
	const struct code_function *functions = facts->functions.items;
	size_t low, high;

	address_index_narrow(&facts->starts, address, &low, &high);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (functions[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < functions[low - 1].end ? (u32)low - 1 : NO_FUNCTION;
}

/* --- names --- */

static u64 hash_of(const char *name)
{
	return XXH3_64bits(name, strlen(name));
}

enum { VERSIONS_MAX = 64 };

/* Several versions of a function have one name: they have the keys behind its hash. */
static void list_exported(struct code_facts *facts, const char *name, u32 symbol)
{
	u64 key = hash_of(name);

	for (u32 version = 0; version < VERSIONS_MAX; version++) {
		u32 *row = idmap_place(&facts->exported, key + version);

		if (*row)
			continue;
		*row = symbol + 1;
		return;
	}
}

void code_facts_list_exported(struct code_facts *facts)
{
	const struct code_image *image = &facts->image;

	if (facts->has_exported)
		return;
	facts->has_exported = true;
	for (size_t i = 0; i < image->symbols.count; i++)
		if (image->symbols.items[i].is_exported)
			list_exported(facts, image->symbols.items[i].name, (u32)i);
}

const struct code_symbol *code_facts_exported(struct code_facts *facts, const char *name,
					      u32 version)
{
	const struct code_symbol *symbol;
	u32 row;

	code_facts_list_exported(facts);
	row = idmap_get(&facts->exported, hash_of(name) + version);
	symbol = row ? &facts->image.symbols.items[row - 1] : NULL;
	return symbol && !strcmp(symbol->name, name) ? symbol : NULL;
}

/* --- making and freeing --- */

struct code_facts *code_facts_new(struct code_image *image, bool is_loader,
				  const struct lbr_keeper *keeper)
{
	struct code_facts *facts = must_alloc(sizeof(*facts));

	facts->image = *image;
	*image = (struct code_image){0};
	facts->is_loader = is_loader;
	facts->rules = function_rules_new(facts->image.frames);
	cut_functions(facts);
	code_kinds_begin(facts);
	if (!kept_callers_take(facts, keeper))
		code_callers_begin(facts);
	return facts;
}

void code_facts_free(struct code_facts *facts)
{
	if (!facts)
		return;
	code_callers_end(facts);
	function_rules_free(facts->rules);
	code_image_release(&facts->image);
	vec_release(&facts->functions);
	address_index_release(&facts->starts);
	vec_release(&facts->exits);
	free(facts->kinds);
	idmap_release(&facts->exported);
	free(facts);
}

/* --- instructions --- */

bool code_facts_instruction(const struct code_facts *facts, u64 address,
			    struct instruction *ret_instruction)
{
	return instruction_decode(code_image_text(&facts->image, address, SEEN_TEXT_BYTES), address,
				  ret_instruction);
}

u64 code_facts_call_before(const struct code_facts *facts, u64 return_address)
{
	u32 row = code_facts_function(facts, return_address - 1);
	struct instruction instruction;
	u64 at;

	if (row == NO_FUNCTION)
		return 0;
	for (at = facts->functions.items[row].start; at < return_address;
	     at += instruction.length) {
		if (!code_facts_instruction(facts, at, &instruction))
			return 0;
		if (at + instruction.length == return_address)
			return instruction.kind == INSTRUCTION_CALL ||
					       instruction.kind == INSTRUCTION_CALL_INDIRECT
				       ? at
				       : 0;
	}
	return 0;
}

static bool is_inside(const struct code_function *function, u64 address)
{
	return address - function->start < function->end - function->start;
}

static void add_exit(struct code_facts *facts, struct code_function *function, u64 target,
		     const struct code_slot *slot)
{
	*vec_add(&facts->exits) = (struct code_exit){target, slot};
	function->exit_count++;
}

/* Whether the stack is as the caller left it, so that a jump can be a call in disguise. If not, the
 * jump stays in the function, or leaves the frame for good (longjmp(), exceptions). */
static bool is_frame_gone(const struct code_facts *facts, u64 address)
{
	const struct unwind_rule *rule = function_rules_find(facts->rules, address);

	if (rule->cfa_kind == CFA_NONE || rule->cfa_kind == CFA_PLT)
		return true;
	return rule->cfa_kind == CFA_REGISTER && rule->cfa_register == X86_64_SP &&
	       rule->cfa_offset == sizeof(u64) && rule->pc_kind == SAVED_AT_CFA;
}

static void take_far_jump(struct code_facts *facts, struct code_function *function, u64 at,
			  u64 word)
{
	const struct code_slot *slot = word ? code_image_slot(&facts->image, word) : NULL;

	if (slot)
		add_exit(facts, function, slot->target, slot);
	else if (is_frame_gone(facts, at))
		function->flags |= FUNCTION_JUMPS_FAR;
}

/* What was met in a function so far. */
struct reading {
	bool has_table; /* a switch's */
	bool goes_on;	/* the last instruction does not keep what is behind it from coming next */
	u8 before;	/* enum instruction_kind of the last one */
};

static void read_exit(struct code_facts *facts, struct code_function *function, u64 at,
		      const struct instruction *instruction, struct reading *reading)
{
	reading->has_table |= instruction->kind == INSTRUCTION_TABLE_LOAD;
	if (instruction->kind == INSTRUCTION_JUMP && !is_inside(function, instruction->target))
		add_exit(facts, function, instruction->target, NULL);
	if (instruction->kind == INSTRUCTION_JUMP_INDIRECT &&
	    (instruction->target || !reading->has_table))
		take_far_jump(facts, function, at, instruction->target);
	/* A retpoline returns to where it is told. */
	if (instruction->kind == INSTRUCTION_RETURN && reading->before == INSTRUCTION_SET_RETURN)
		function->flags |= FUNCTION_JUMPS_FAR;
	reading->before = instruction->kind;
}

static void read_end(const struct code_facts *facts, u64 at, const struct instruction *instruction,
		     struct reading *reading)
{
	struct bytes code = code_image_text(&facts->image, at, instruction->length);

	if (!instruction_is_padding(code))
		reading->goes_on = instruction_goes_on(code, instruction->kind);
}

/* Reads a function once from start to end. Behind what cannot be decoded (data in the text) it
 * may go anywhere. */
static void read_exits(struct code_facts *facts, struct code_function *function)
{
	enum { END_BYTES = 32 };
	struct reading reading = {.before = INSTRUCTION_OTHER};
	struct instruction instruction;

	function->exit_first = (u32)facts->exits.count;
	for (u64 at = function->start; at < function->end; at += instruction.length) {
		if (!code_facts_instruction(facts, at, &instruction)) {
			function->flags |= FUNCTION_JUMPS_FAR;
			return;
		}
		read_exit(facts, function, at, &instruction, &reading);
		if (function->end - at <= END_BYTES)
			read_end(facts, at, &instruction, &reading);
	}
	if (reading.goes_on)
		function->flags |= FUNCTION_GOES_ON;
}

const struct code_function *code_facts_read_function(struct code_facts *facts, u32 row)
{
	struct code_function *function = &facts->functions.items[row];

	if (!(function->flags & FUNCTION_IS_READ)) {
		function->flags |= FUNCTION_IS_READ;
		if (function->flags & FUNCTION_IS_GAP)
			function->flags |= FUNCTION_JUMPS_FAR;
		else
			read_exits(facts, function);
	}
	return function;
}

/* --- frames --- */

enum { SET_BYTES = 3 }; /* an instruction that sets the frame pointer */

/* mov %rsp,%rbp: what is on the stack already is not in the register yet. */
static bool sets_frame_pointer(const u8 *code)
{
	static const u8 forms[][SET_BYTES] = {{0x48, 0x89, 0xe5}, {0x48, 0x8b, 0xec}};

	return !memcmp(code, forms[0], SET_BYTES) || !memcmp(code, forms[1], SET_BYTES);
}

/* What it is where it was saved, but may not be set yet. Cuts `end` to where that is the same. */
static enum frame_pointer_use saved_pointer_use(const struct code_facts *facts, u64 address,
						u64 *end)
{
	enum { SEEN_BYTES = 16 };
	struct bytes code = code_image_text(&facts->image, address, SEEN_TEXT_BYTES);
	u64 bytes = 1;

	if (code.length >= SET_BYTES && sets_frame_pointer(code.start)) {
		*end = address + bytes;
		return POINTER_CALLERS;
	}
	while (bytes < SEEN_BYTES && bytes + SET_BYTES <= code.length &&
	       !sets_frame_pointer(code.start + bytes))
		bytes++;
	if (address + bytes < *end)
		*end = address + bytes;
	return POINTER_UNKNOWN;
}

static enum frame_pointer_use pointer_use(const struct code_facts *facts, u64 address,
					  const struct unwind_rule *rule, u64 *end)
{
	enum { RETURN_OFFSET = -8, SAVED_OFFSET = -16, FRAME_BYTES = 16 };

	if (rule->cfa_kind == CFA_PLT)
		return POINTER_CALLERS;
	if (rule->cfa_kind != CFA_REGISTER || rule->pc_kind != SAVED_AT_CFA ||
	    rule->pc_offset != RETURN_OFFSET)
		return POINTER_UNKNOWN;
	if (rule->cfa_register == X86_64_FP)
		return rule->cfa_offset == FRAME_BYTES && rule->fp_kind == SAVED_AT_CFA &&
				       rule->fp_offset == SAVED_OFFSET
			       ? POINTER_FRAME
			       : POINTER_UNKNOWN;
	if (rule->cfa_register != X86_64_SP)
		return POINTER_UNKNOWN;
	return rule->fp_kind == SAVED_SAME ? POINTER_CALLERS
					   : saved_pointer_use(facts, address, end);
}

struct code_frame code_facts_frame(const struct code_facts *facts, u64 address)
{
	struct function_bound span;
	const struct unwind_rule *rule = function_rules_find_span(facts->rules, address, &span);
	struct code_frame frame = {
		.is_outermost = rule->cfa_kind == CFA_END,
		.is_signal = rule->is_signal,
	};

	frame.pointer = (u8)pointer_use(facts, address, rule, &span.end);
	frame.end = span.end;
	return frame;
}
