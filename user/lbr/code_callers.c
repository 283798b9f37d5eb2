/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every four bytes of text that could be the distance to a function behind an opcode that takes
 * one, and every word of data that could be its address.
 *
 * That a function has one caller only is concluded from this, so seeing too many is safe and seeing
 * too few is not: instructions are not told apart, which takes longer and can err. Opcodes are
 * looked for in 16 places at once, by pieces of the file that fit into a cache, on all CPUs, while
 * whoever will ask goes on with something else; what they found is counted in their order.
 */
#include "lbr/code_callers.h"

#include "base/parallel.h"
#include "lbr/code_lanes.h"
#include "lbr/code_tables.h"

enum {
	PIECE_BYTES = 64 << 10, /* of a segment, looked at by one CPU */
	SLACK_BYTES = 96,	/* zeros behind a piece: no opcodes */
	PLACES = 64,		/* looked at before what they hold */
};

enum { OPCODE_CALL = 0xe8, OPCODE_JUMP = 0xe9, OPCODE_LEA = 0x8d };

/* What a place in the file does to a function. */
struct reference {
	u32 to;	  /* row of functions */
	u32 from; /* a CALL: its offset from the first function; a jump: the row of its function */
};

struct piece {
	const struct code_segment *segment;
	u64 start, bytes; /* in the segment */
	VEC(struct reference) calls, jumps;
	VEC(u32) pointers; /* rows of functions whose address is there */
};

struct callers_search {
	struct code_facts *facts;
	struct code_starts starts;
	struct code_bases bases;
	bool is_fixed; /* linked to run at its linked addresses */
	VEC(struct piece) pieces;
	atomic_size_t left;	   /* pieces that were not looked at */
	bool *in_tables;	   /* of each function */
	struct parallel_crew crew; /* that looks at them */
};

/* --- looking at a piece --- */

/* A piece in memory, with what is in front of it and behind. */
struct view {
	const struct callers_search *search;
	struct piece *piece;
	const u8 *bytes; /* of the piece's start */
	u64 address;	 /* the same */
	u32 row;	 /* of the function that was jumped from last, or of one in front of it */
};

/* An address of the text is written somewhere, or a number that looks like one. */
static void add_pointer(const struct view *view, u64 address)
{
	const struct code_starts *starts = &view->search->starts;
	u32 row;

	if (!code_starts_may_be(starts, address))
		return;
	row = code_starts_started(starts, address);
	if (row != NO_FUNCTION)
		*vec_add(&view->piece->pointers) = row;
}

/* An address is written somewhere: of a function, or of a table of them. */
static void take_address(const struct view *view, u64 address, bool is_taken)
{
	if (code_starts_in_text(&view->search->starts, address))
		add_pointer(view, address);
	code_bases_note(&view->search->bases, address, is_taken);
}

/* Code takes an address that may be one within another function: of an entry of assembly, or with
 * something in its lowest bits. */
static void take_lea(const struct view *view, u64 from, u64 address)
{
	const struct callers_search *search = view->search;
	const struct code_function *function;
	u32 row;

	code_bases_note(&search->bases, address, true);
	if (!code_starts_in_text(&search->starts, address))
		return;
	row = code_starts_row(&search->starts, address);
	function = &search->facts->functions.items[row];
	if (address == function->start ||
	    (address < function->end && code_starts_row(&search->starts, from) != row))
		*vec_add(&view->piece->pointers) = row;
}

/* Of a function that is called somewhere behind its start, as assembly has it, not all that is
 * called is known. */
static void add_call(const struct view *view, u64 from, u64 target)
{
	const struct callers_search *search = view->search;
	u32 row = code_starts_row(&search->starts, target);

	if (code_starts_started(&search->starts, target) == row)
		*vec_add(&view->piece->calls) = (struct reference){
			row, (u32)(from - search->starts.first)};
	else if (target < search->facts->functions.items[row].end)
		*vec_add(&view->piece->pointers) = row;
}

/* A jump within a function says nothing. */
static void add_jump(struct view *view, u64 from, u64 target)
{
	const struct callers_search *search = view->search;
	const struct code_function *functions = search->facts->functions.items;
	u32 to;

	while (view->row + 1 < search->facts->functions.count && functions[view->row].end <= from)
		view->row++;
	if (target - functions[view->row].start <
	    functions[view->row].end - functions[view->row].start)
		return;
	to = code_starts_row(&search->starts, target);
	if (target < functions[to].end)
		*vec_add(&view->piece->jumps) = (struct reference){to, view->row};
}

/* Where the distance behind an opcode leads that ends at `place`; 0: nowhere. Zeros are padding in
 * front of a function, not its distance. */
static u64 target_of(const struct view *view, u64 place)
{
	s32 distance;

	memcpy(&distance, view->bytes + place + 1, sizeof(distance));
	return distance ? view->address + place + 1 + sizeof(distance) + (u64)(s64)distance : 0;
}

static void take_call(const struct view *view, u64 place)
{
	u64 target = target_of(view, place);

	if (code_starts_in_text(&view->search->starts, target))
		add_call(view, view->address + place, target);
}

static void take_other(struct view *view, u64 place)
{
	u8 opcode = view->bytes[place];
	bool is_jump = opcode == OPCODE_JUMP || (opcode & 0xf0) == 0x80;
	u64 target = target_of(view, place);

	if (!is_jump)
		take_lea(view, view->address + place, target);
	else if (code_starts_in_text(&view->search->starts, target))
		add_jump(view, view->address + place, target);
}

static lanes calls_at(const u8 *at)
{
	return (lanes)(lanes_at(at) == OPCODE_CALL);
}

/* Where other opcodes end that a distance follows: JMP, 0f 8x (the conditional jumps), and lea
 * DISTANCE(%rip), of all instructions without a jump the only one that makes an address of it; the
 * others read what stands there. */
static lanes others_at(const u8 *at)
{
	lanes last = lanes_at(at), before = lanes_at(at - 1);

	return (lanes)(last == OPCODE_JUMP) |
	       ((lanes)((last & 0xf0) == 0x80) & (lanes)(before == 0x0f)) |
	       ((lanes)((last & 0xc7) == 0x05) & (lanes)(before == OPCODE_LEA));
}

static void look_at_distances(struct view *view)
{
	for (u64 place = 0; place < view->piece->bytes; place += PLACES) {
		u64 calls = 0, others = 0;

		for (u32 i = 0; i < PLACES; i += LANES) {
			calls |= lanes_bits(calls_at(view->bytes + place + i)) << i;
			others |= lanes_bits(others_at(view->bytes + place + i)) << i;
		}
		for (; calls; calls &= calls - 1)
			take_call(view, place + (u32)__builtin_ctzll(calls));
		for (; others; others &= others - 1)
			take_other(view, place + (u32)__builtin_ctzll(others));
	}
}

/* Addresses of which the upper half is first … first + span. */
struct halves_of {
	u16 first, span;
};

static struct halves_of halves_of(u64 first, u64 end)
{
	return (struct halves_of){(u16)(first >> 16), (u16)((end >> 16) - (first >> 16))};
}

/* What addresses of 32 bits look like. */
struct address_forms {
	struct halves_of text, odd, data;
};

/* Where words may begin that are addresses of functions or of tables, by their upper half, and the
 * lowest byte where all functions are aligned. */
static lanes addresses_at(const struct address_forms *forms, const u8 *at)
{
	lanes last = lanes_at(at);

	return (lanes_of_halves(at + 2, forms->text.first, forms->text.span) &
		((lanes)((last & (CODE_START_BYTES - 1)) == 0) |
		 lanes_of_halves(at + 2, forms->odd.first, forms->odd.span))) |
	       lanes_of_halves(at + 2, forms->data.first, forms->data.span);
}

/* Addresses that are written out in 32 bits, in the text (mov $function,%edi) or in data. */
static void look_at_addresses(const struct view *view, bool is_text)
{
	const struct code_starts *starts = &view->search->starts;
	const struct code_bases *bases = &view->search->bases;
	const struct address_forms forms = {
		.text = halves_of(starts->first, starts->end),
		.odd = halves_of(starts->odd_first, starts->odd_end),
		.data = halves_of(bases->first, code_bases_end(bases)),
	};

	for (u64 place = 0; place < view->piece->bytes; place += PLACES) {
		u64 found = 0;

		for (u32 i = 0; i < PLACES; i += LANES)
			found |= lanes_bits(addresses_at(&forms, view->bytes + place + i)) << i;
		for (; found; found &= found - 1) {
			u32 value;

			memcpy(&value, view->bytes + place + (u32)__builtin_ctzll(found),
			       sizeof(value));
			take_address(view, value, is_text);
		}
	}
}

/* Addresses in data that is relocated: words that no relocation tells of may lie anywhere, in
 * packed structures, and in segments that begin with less than a word. */
static void look_at_words(const struct view *view)
{
	const struct callers_search *search = view->search;
	u64 step = search->facts->image.has_packed_words ? 1 : sizeof(u64);

	for (u64 place = -view->address % step; place < view->piece->bytes; place += step) {
		u64 word;

		memcpy(&word, view->bytes + place, sizeof(word));
		if (code_starts_in_text(&search->starts, word) ||
		    code_bases_has(&search->bases, word))
			take_address(view, word, false);
	}
}

static void look_at_piece(void *context, size_t index)
{
	struct callers_search *search = context;
	struct piece *piece = &search->pieces.items[index];
	const struct code_segment *segment = piece->segment;
	u8 buffer[LANES + PIECE_BYTES + SLACK_BYTES];
	u64 left = segment->bytes - piece->start, before = piece->start ? 1 : 0;
	u64 wanted = left < piece->bytes + SLACK_BYTES ? left : piece->bytes + SLACK_BYTES;
	struct view view = {.search = search,
			    .piece = piece,
			    .bytes = buffer + LANES,
			    .address = segment->address + piece->start};

	buffer[LANES - 1] = 0;
	code_image_copy(&search->facts->image, segment->offset + piece->start - before,
			buffer + LANES - before, before + wanted);
	memset(buffer + LANES + wanted, 0, sizeof(buffer) - LANES - wanted);
	if (segment->is_executable) {
		view.row = code_starts_row(&search->starts, view.address);
		look_at_distances(&view);
	}
	if (search->is_fixed)
		look_at_addresses(&view, segment->is_executable);
	else if (!segment->is_executable)
		look_at_words(&view);
	/* Whoever is the last knows where all tables may begin. */
	if (atomic_fetch_sub(&search->left, 1) == 1)
		code_tables_find(search->facts, &search->starts, &search->bases, search->in_tables);
}

static void note_bases(struct callers_search *search)
{
	const struct code_image *image = &search->facts->image;

	for (size_t i = 0; i < image->slots.count; i++)
		code_bases_note(&search->bases, image->slots.items[i].target, false);
	for (size_t i = 0; i < image->objects.count; i++)
		code_bases_note(&search->bases, image->objects.items[i], false);
}

static void cut_into_pieces(struct callers_search *search)
{
	const struct code_image *image = &search->facts->image;

	for (size_t i = 0; i < image->segments.count; i++) {
		const struct code_segment *segment = &image->segments.items[i];

		for (u64 start = 0; start < segment->bytes; start += PIECE_BYTES) {
			u64 left = segment->bytes - start;

			*vec_add(&search->pieces) = (struct piece){
				.segment = segment,
				.start = start,
				.bytes = left < PIECE_BYTES ? left : PIECE_BYTES,
			};
		}
	}
}

/* --- counting what was found --- */

static void count_piece(const struct callers_search *search, const struct piece *piece)
{
	struct code_function *functions = search->facts->functions.items;

	for (size_t i = 0; i < piece->calls.count; i++) {
		struct code_function *function = &functions[piece->calls.items[i].to];

		function->calls++;
		function->call = search->starts.first + piece->calls.items[i].from;
	}
	for (size_t i = 0; i < piece->jumps.count; i++) {
		struct code_function *function = &functions[piece->jumps.items[i].to];
		u32 from = piece->jumps.items[i].from;

		function->has_many |= function->has_jumps && function->jumps_from != from;
		function->has_jumps = true;
		function->jumps_from = from;
	}
	for (size_t i = 0; i < piece->pointers.count; i++)
		functions[piece->pointers.items[i]].flags |= FUNCTION_IS_POINTED_AT;
}

static void release_piece(struct piece *piece)
{
	vec_release(&piece->calls);
	vec_release(&piece->jumps);
	vec_release(&piece->pointers);
}

static void point_at(struct code_facts *facts, u64 address)
{
	u32 function = code_facts_function(facts, address);

	if (function != NO_FUNCTION)
		facts->functions.items[function].flags |= FUNCTION_IS_POINTED_AT;
}

/* Of a file that no linker makes, everything may call everything. */
static void point_at_all(struct code_facts *facts)
{
	for (size_t i = 0; i < facts->functions.count; i++)
		facts->functions.items[i].flags |= FUNCTION_IS_POINTED_AT;
}

void code_callers_begin(struct code_facts *facts)
{
	const struct code_image *image = &facts->image;
	struct callers_search *search;

	if (facts->has_callers || facts->callers_search || !facts->functions.count)
		return;
	search = must_alloc(sizeof(*search));
	search->facts = facts;
	search->is_fixed = image->segments.items[0].address != 0;
	facts->callers_search = search;
	if (image->is_partial || !code_starts_make(&search->starts, facts) ||
	    (search->is_fixed && search->starts.end >> 32) || /* written in 64 bits */
	    !code_bases_make(&search->bases, image))
		return;
	search->in_tables = must_alloc_array(facts->functions.count, sizeof(*search->in_tables));
	note_bases(search);
	cut_into_pieces(search);
	search->left = search->pieces.count;
	parallel_start(&search->crew, search->pieces.count, look_at_piece, search);
}

void code_callers_end(struct code_facts *facts)
{
	struct callers_search *search = facts->callers_search;

	if (!search)
		return;
	atomic_store(&search->crew.next, search->pieces.count);
	parallel_finish(&search->crew);
	for (size_t i = 0; i < search->pieces.count; i++)
		release_piece(&search->pieces.items[i]);
	vec_release(&search->pieces);
	code_starts_release(&search->starts);
	code_bases_release(&search->bases);
	free(search->in_tables);
	free(search);
	facts->callers_search = NULL;
}

void code_callers_find(struct code_facts *facts)
{
	const struct code_image *image = &facts->image;
	struct callers_search *search;

	if (facts->has_callers || !facts->functions.count)
		return;
	code_callers_begin(facts);
	facts->has_callers = facts->has_found_callers = true;
	search = facts->callers_search;
	if (!search->bases.bits) {
		point_at_all(facts);
		code_callers_end(facts);
		return;
	}
	parallel_finish(&search->crew);
	for (size_t i = 0; i < search->pieces.count; i++)
		count_piece(search, &search->pieces.items[i]);
	for (size_t i = 0; i < facts->functions.count; i++)
		if (search->in_tables[i])
			facts->functions.items[i].flags |= FUNCTION_IS_POINTED_AT;
	for (size_t i = 0; i < image->slots.count; i++)
		point_at(facts, image->slots.items[i].target);
	point_at(facts, image->entry);
	code_callers_end(facts);
}
