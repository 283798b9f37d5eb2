/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every four bytes of text that could be the distance to a function behind an opcode that takes
 * one, and every word of data that could be its address.
 *
 * That a function has one caller only is concluded from this, so seeing too many is safe and seeing
 * too few is not: instructions are not told apart, which takes longer and can err.
 */
#include "lbr/code_callers.h"

#include <string.h>

enum {
	START_BYTES = 16,	   /* what compilers align most functions to */
	NEAR_BYTES = 128,	   /* as far as a jump with one byte of distance goes */
	SPAN_MAX_BYTES = 1U << 31, /* of text: as far as a call goes */
};

struct finding {
	struct code_facts *facts;
	u64 first, end;		/* of all text */
	u8 *starts;		/* a bit for each address: a function starts here */
	u64 odd_first, odd_end; /* where functions do not start at multiples of START_BYTES */
	bool is_fixed;		/* linked to run at its linked addresses */
	const u8 *text;		/* of the segment that is looked at */
	u64 text_address;
};

static bool is_start(const struct finding *finding, u64 address)
{
	u64 bit = address - finding->first;

	return address >= finding->first && address < finding->end &&
	       finding->starts[bit / 8] >> bit % 8 & 1;
}

static void point_at(const struct finding *finding, u64 address)
{
	u32 function;

	if (address < finding->first || address >= finding->end)
		return;
	function = code_facts_function(finding->facts, address);
	if (function != NO_FUNCTION)
		finding->facts->functions.items[function].flags |= FUNCTION_IS_POINTED_AT;
}

static void take_call(const struct finding *finding, u64 from, u64 target)
{
	struct code_function *function =
		&finding->facts->functions.items[code_facts_function(finding->facts, target)];

	function->calls++;
	function->call = from;
}

static void take_jump(const struct finding *finding, u32 from, u64 target)
{
	u32 to = code_facts_function(finding->facts, target);
	struct code_function *function;

	if (to == from || to == NO_FUNCTION)
		return;
	function = &finding->facts->functions.items[to];
	function->has_many |= function->has_jumps && function->jumps_from != from;
	function->has_jumps = true;
	function->jumps_from = from;
}

/* Whether the opcode in front of a distance is that of a long jump. */
static bool is_jump(const u8 *distance)
{
	return distance[-1] == 0xe9 || ((distance[-1] & 0xf0) == 0x80 && distance[-2] == 0x0f);
}

/* Whether the opcode in front of a distance is that of lea DISTANCE(%rip): of all instructions
 * without a jump the only one that makes an address of it; the others read what stands there. */
static bool is_address(const u8 *distance)
{
	enum { LEA = 0x8d, MODRM_BASE_BITS = 0xc7, MODRM_RIP = 0x05 };

	return distance[-2] == LEA && (distance[-1] & MODRM_BASE_BITS) == MODRM_RIP;
}

/* What four bytes mean that lead to other text. */
static void take_distance(const struct finding *finding, const u8 *distance, u64 target, u32 from)
{
	if (is_jump(distance))
		take_jump(finding, from, target);
	else if (!is_start(finding, target))
		return;
	else if (distance[-1] == 0xe8)
		take_call(finding, (u64)(distance - finding->text) - 1 + finding->text_address,
			  target);
	else if (is_address(distance))
		point_at(finding, target);
}

/* The text of one function, of which the first two bytes of all can hold no distance. */
static void look_at_function(const struct finding *finding, u64 start, u64 end, u32 row)
{
	const struct code_function *function = &finding->facts->functions.items[row];
	/* Kept out of memory, for this is looked at for every byte of text. */
	const u64 first = finding->first, span = finding->end - first;
	const u64 own_start = function->start, own_bytes = function->end - own_start;
	const u8 *distance = finding->text + (start - finding->text_address);
	const u64 odd_first = finding->odd_first, odd_span = finding->odd_end - odd_first;

	for (u64 address = start; address < end; address++, distance++) {
		u64 target;
		s32 value;

		memcpy(&value, distance, sizeof(value));
		target = address + sizeof(value) + (u64)(s64)value;
		/* Zeros are padding in front of a function, not its distance. */
		if (target - first >= span || !value)
			continue;
		if (is_jump(distance) ? target - own_start - 1 >= own_bytes - 1
				      : target % START_BYTES == 0 || target - odd_first < odd_span)
			take_distance(finding, distance, target, row);
	}
}

/* The same for addresses that are written out: mov $function,%edi. */
static void look_at_addresses(const struct finding *finding, u64 start, u64 end)
{
	const u64 first = finding->first, span = finding->end - first;
	const u8 *text = finding->text + (start - finding->text_address);

	for (u64 address = start; address < end; address++, text++) {
		u32 value;

		memcpy(&value, text, sizeof(value));
		if (value - first < span && is_start(finding, value))
			point_at(finding, value);
	}
}

static void look_at_text(struct finding *finding, const struct code_segment *segment)
{
	enum { OPCODE_BYTES = 2 };
	u64 start = segment->address + OPCODE_BYTES;
	u64 end = segment->address + segment->bytes;
	u32 row = code_facts_function(finding->facts, start);

	finding->text = finding->facts->image.bytes.start + segment->offset;
	finding->text_address = segment->address;
	if (segment->bytes < OPCODE_BYTES + sizeof(s32))
		return;
	end -= sizeof(s32);
	if (finding->is_fixed)
		look_at_addresses(finding, start, end + 1);
	while (start <= end && row < finding->facts->functions.count) {
		u64 behind = finding->facts->functions.items[row].end + 1;

		if (behind > end + 1)
			behind = end + 1;
		look_at_function(finding, start, behind, row++);
		start = behind;
	}
}

static void look_at_data(const struct finding *finding, const struct code_segment *segment)
{
	const u8 *data = finding->facts->image.bytes.start + segment->offset;

	for (u64 i = 0; i + sizeof(u64) <= segment->bytes; i += sizeof(u64)) {
		u64 word;

		memcpy(&word, data + i, sizeof(word));
		if (is_start(finding, word))
			point_at(finding, word);
	}
}

static void mark_starts(struct finding *finding)
{
	const struct code_facts *facts = finding->facts;

	for (size_t i = 0; i < facts->functions.count; i++) {
		u64 start = facts->functions.items[i].start, bit = start - finding->first;

		if (facts->functions.items[i].flags & FUNCTION_IS_GAP)
			continue;
		finding->starts[bit / 8] |= (u8)(1 << bit % 8);
		if (start % START_BYTES == 0)
			continue;
		if (!finding->odd_end)
			finding->odd_first = start;
		finding->odd_end = start + 1;
	}
}

/* Of a file that no linker makes, everything may call everything. */
static void point_at_all(struct code_facts *facts)
{
	for (size_t i = 0; i < facts->functions.count; i++)
		facts->functions.items[i].flags |= FUNCTION_IS_POINTED_AT;
}

void code_callers_find(struct code_facts *facts)
{
	struct finding finding = {.facts = facts};
	const struct code_image *image = &facts->image;
	size_t count = facts->functions.count;

	if (facts->has_callers || !count)
		return;
	facts->has_callers = true;
	finding.first = facts->functions.items[0].start;
	finding.end = facts->functions.items[count - 1].end;
	finding.is_fixed = image->segments.items[0].address != 0;
	if (finding.end - finding.first > SPAN_MAX_BYTES) {
		point_at_all(facts);
		return;
	}
	finding.starts = must_alloc((finding.end - finding.first) / 8 + 1);
	mark_starts(&finding);
	for (size_t i = 0; i < image->segments.count; i++) {
		if (image->segments.items[i].is_executable)
			look_at_text(&finding, &image->segments.items[i]);
		else
			look_at_data(&finding, &image->segments.items[i]);
	}
	for (size_t i = 0; i < image->slots.count; i++)
		point_at(&finding, image->slots.items[i].target);
	point_at(&finding, image->entry);
	free(finding.starts);
}

/* --- what follows --- */

static const struct code_function *function_at(const struct code_facts *facts, u32 row)
{
	return &facts->functions.items[row];
}

static bool can_be_entered_unseen(const struct code_function *function)
{
	return function->flags &
	       (FUNCTION_IS_GAP | FUNCTION_IS_STUB | FUNCTION_IS_EXPORTED | FUNCTION_IS_POINTED_AT);
}

/* The function that a part split off from it belongs to; itself if it is no such part. */
static u32 owner_of(const struct code_facts *facts, u32 row)
{
	enum { PARTS_MAX = 4 };

	for (int i = 0; i < PARTS_MAX; i++) {
		const struct code_function *function = function_at(facts, row);

		if (can_be_entered_unseen(function) || function->calls || !function->has_jumps ||
		    function->has_many)
			break;
		row = function->jumps_from;
	}
	return row;
}

/* Whether a function nearby may go on in this one by a short jump. */
static bool has_near_jump(struct code_facts *facts, u32 row)
{
	const u64 start = function_at(facts, row)->start, end = function_at(facts, row)->end;

	for (u32 i = row; i-- > 0 && function_at(facts, i)->end + NEAR_BYTES > start;) {
		const struct code_function *near = code_facts_read_function(facts, i);

		for (u32 exit = 0; exit < near->exit_count; exit++)
			if (facts->exits.items[near->exit_first + exit].target - start <
			    end - start)
				return true;
	}
	for (u32 i = row + 1;
	     i < facts->functions.count && function_at(facts, i)->start < end + NEAR_BYTES; i++) {
		const struct code_function *near = code_facts_read_function(facts, i);

		for (u32 exit = 0; exit < near->exit_count; exit++)
			if (facts->exits.items[near->exit_first + exit].target - start <
			    end - start)
				return true;
	}
	return false;
}

u32 code_facts_calls(struct code_facts *facts, u32 row)
{
	const struct code_function *function;

	code_callers_find(facts);
	row = owner_of(facts, row);
	function = function_at(facts, row);
	if (can_be_entered_unseen(function) || function->has_many)
		return CALLS_UNKNOWN;
	/* A part split off may jump back. */
	if (function->has_jumps && owner_of(facts, function->jumps_from) != row)
		return CALLS_UNKNOWN;
	return has_near_jump(facts, row) ? CALLS_UNKNOWN : function->calls;
}

u64 code_facts_only_call(struct code_facts *facts, u32 row)
{
	struct instruction call;
	u64 from;

	if (code_facts_calls(facts, row) != 1)
		return 0;
	from = function_at(facts, owner_of(facts, row))->call;
	if (!code_facts_instruction(facts, from, &call) ||
	    code_facts_call_before(facts, from + call.length) != from)
		return 0;
	return from;
}

bool code_facts_is_pointed_at(struct code_facts *facts, u32 row)
{
	code_callers_find(facts);
	return function_at(facts, owner_of(facts, row))->flags &
	       (FUNCTION_IS_GAP | FUNCTION_IS_EXPORTED | FUNCTION_IS_POINTED_AT);
}
