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

#include <string.h>

enum {
	PIECE_BYTES = 64 << 10,	   /* of a segment, looked at by one CPU */
	SLACK_BYTES = 96,	   /* zeros behind a piece: no opcodes */
	SPAN_MAX_BYTES = 1U << 31, /* of text: as far as a call goes */
	BLOCK_BITS = 7,		   /* of addresses whose first function is known */
	START_BYTES = 16,	   /* what compilers align most functions to */
	LANES = 16,
	PLACES = 64, /* looked at before what they hold */
};

enum { OPCODE_CALL = 0xe8, OPCODE_JUMP = 0xe9, OPCODE_LEA = 0x8d };

/* Bytes of text that are looked at together. */
typedef u8 lanes __attribute__((vector_size(LANES)));
typedef u16 halves __attribute__((vector_size(LANES)));
#ifdef __SSE2__
typedef char signed_lanes __attribute__((vector_size(LANES)));
#endif

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
	u64 first, end;	   /* of all text */
	u32 *starts;	   /* of functions: (address - first) << 1 | whether it is a gap */
	u32 *row_of_block; /* the function that holds its first address, or is in front of it */
	u64 odd_first, odd_end; /* where functions do not start at multiples of START_BYTES */
	bool is_fixed;		/* linked to run at its linked addresses */
	VEC(struct piece) pieces;
	struct parallel_crew crew; /* that looks at them */
};

/* --- functions --- */

/* The row of the function that an address of the text is in, or behind. */
static u32 row_of(const struct callers_search *search, u64 address)
{
	u32 offset = (u32)(address - search->first);
	u32 row = search->row_of_block[offset >> BLOCK_BITS];

	while (row + 1 < search->facts->functions.count && search->starts[row + 1] >> 1 <= offset)
		row++;
	return row;
}

/* Whether a function may start at an address: most do at multiples of START_BYTES. */
static bool is_aligned(const struct callers_search *search, u64 address)
{
	return address % START_BYTES == 0 ||
	       address - search->odd_first < search->odd_end - search->odd_first;
}

/* The row of the function that starts at an address of the text; NO_FUNCTION: none does. */
static u32 started_row(const struct callers_search *search, u64 address)
{
	u32 row = row_of(search, address);

	return search->starts[row] == (u32)(address - search->first) << 1 ? row : NO_FUNCTION;
}

static void see_odd_start(struct callers_search *search, u64 start)
{
	if (start % START_BYTES == 0)
		return;
	if (!search->odd_end)
		search->odd_first = start;
	search->odd_end = start + 1;
}

static void sort_functions(struct callers_search *search)
{
	const struct code_facts *facts = search->facts;
	size_t count = facts->functions.count, block = 0;
	size_t blocks = ((search->end - search->first) >> BLOCK_BITS) + 1;

	search->starts = must_alloc_array(count, sizeof(*search->starts));
	search->row_of_block = must_alloc_array(blocks, sizeof(*search->row_of_block));
	for (size_t row = 0; row < count; row++) {
		const struct code_function *function = &facts->functions.items[row];
		u32 start = (u32)(function->start - search->first);
		bool is_gap = function->flags & FUNCTION_IS_GAP;

		search->starts[row] = start << 1 | is_gap;
		if (!is_gap)
			see_odd_start(search, function->start);
		for (; (u64)block << BLOCK_BITS < start; block++)
			search->row_of_block[block] = row ? (u32)row - 1 : 0;
	}
	for (; block < blocks; block++)
		search->row_of_block[block] = (u32)count - 1;
}

/* --- looking at a piece --- */

/* A piece in memory, with what is in front of it and behind. */
struct view {
	const struct callers_search *search;
	struct piece *piece;
	const u8 *bytes; /* of the piece's start */
	u64 address;	 /* the same */
	u32 row;	 /* of the function that was jumped from last, or of one in front of it */
};

static void add_pointer(const struct view *view, u64 address)
{
	u32 row = started_row(view->search, address);

	if (row != NO_FUNCTION)
		*vec_add(&view->piece->pointers) = row;
}

/* Of a function that is called somewhere behind its start, as assembly has it, not all that is
 * called is known. */
static void add_call(const struct view *view, u64 from, u64 target)
{
	const struct callers_search *search = view->search;
	u32 row = row_of(search, target);

	if (started_row(search, target) == row)
		*vec_add(&view->piece->calls) = (struct reference){row,
								   (u32)(from - search->first)};
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
	to = row_of(search, target);
	if (target < functions[to].end)
		*vec_add(&view->piece->jumps) = (struct reference){to, view->row};
}

/* Where the distance behind an opcode leads that ends at `place`. Returns false if that is not in
 * the text. Zeros are padding in front of a function, not its distance. */
static bool leads_to(const struct view *view, u64 place, u64 *ret_target)
{
	const struct callers_search *search = view->search;
	s32 distance;

	memcpy(&distance, view->bytes + place + 1, sizeof(distance));
	*ret_target = view->address + place + 1 + sizeof(distance) + (u64)(s64)distance;
	return distance && *ret_target - search->first < search->end - search->first;
}

static void take_call(const struct view *view, u64 place)
{
	u64 target;

	if (leads_to(view, place, &target))
		add_call(view, view->address + place, target);
}

static void take_other(struct view *view, u64 place)
{
	u8 opcode = view->bytes[place];
	u64 target;

	if (!leads_to(view, place, &target))
		return;
	if (opcode == OPCODE_JUMP || (opcode & 0xf0) == 0x80)
		add_jump(view, view->address + place, target);
	else
		add_pointer(view, target);
}

/* Bytes from a place on. */
static lanes lanes_at(const u8 *at)
{
	lanes bytes;

	memcpy(&bytes, at, LANES);
	return bytes;
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

/* A bit for each of 16 lanes that is not zero: those of eight bytes are brought into the highest.
 */
static u64 bits_of(lanes found)
{
#ifdef __SSE2__
	return (u32)__builtin_ia32_pmovmskb128((signed_lanes)found);
#else
	u64 halves[2];

	memcpy(halves, &found, LANES);
	for (u32 i = 0; i < 2; i++)
		halves[i] = (halves[i] & 0x8040201008040201ULL) * 0x0101010101010101ULL >> 56;
	return halves[0] | halves[1] << 8;
#endif
}

static void look_at_distances(struct view *view)
{
	for (u64 place = 0; place < view->piece->bytes; place += PLACES) {
		u64 calls = 0, others = 0;

		for (u32 i = 0; i < PLACES; i += LANES) {
			calls |= bits_of(calls_at(view->bytes + place + i)) << i;
			others |= bits_of(others_at(view->bytes + place + i)) << i;
		}
		for (; calls; calls &= calls - 1)
			take_call(view, place + (u32)__builtin_ctzll(calls));
		for (; others; others &= others - 1)
			take_other(view, place + (u32)__builtin_ctzll(others));
	}
}

/* Where the two bytes from a place on are first … first + span. */
static lanes halves_from(const u8 *at, u16 first, u16 span)
{
	halves even, odd;

	memcpy(&even, at, LANES);
	memcpy(&odd, at + 1, LANES);
	return (lanes)(((halves)(even - first <= span) & 0x00ff) |
		       ((halves)(odd - first <= span) & 0xff00));
}

/* Where words may begin that are addresses of functions: the upper half is one of text, and the
 * lowest byte is aligned or the upper half is that of an odd start. */
static lanes addresses_at(const struct callers_search *search, const u8 *at)
{
	u16 first = (u16)(search->first >> 16), span = (u16)((search->end >> 16) - first);
	u16 odd_first = (u16)(search->odd_first >> 16);
	u16 odd_span = (u16)((search->odd_end >> 16) - odd_first);

	return halves_from(at + 2, first, span) &
	       ((lanes)((lanes_at(at) & (START_BYTES - 1)) == 0) |
		halves_from(at + 2, odd_first, odd_span));
}

/* Addresses that are written out in the text: mov $function,%edi. */
static void look_at_addresses(const struct view *view)
{
	const struct callers_search *search = view->search;
	u64 first = search->first, span = search->end - first;

	if (search->end >> 32)
		return;
	for (u64 place = 0; place < view->piece->bytes; place += PLACES) {
		u64 found = 0;

		for (u32 i = 0; i < PLACES; i += LANES)
			found |= bits_of(addresses_at(search, view->bytes + place + i)) << i;
		for (; found; found &= found - 1) {
			u32 value;

			memcpy(&value, view->bytes + place + (u32)__builtin_ctzll(found),
			       sizeof(value));
			if (value - first < span && is_aligned(search, value))
				add_pointer(view, value);
		}
	}
}

/* Words that no relocation tells of may lie anywhere: in packed structures, and in segments that
 * begin with less than a word. */
static void look_at_data(const struct view *view)
{
	const struct callers_search *search = view->search;
	u64 first = search->first, span = search->end - first;
	u64 step = search->is_fixed ? 1 : sizeof(u64);

	for (u64 place = -view->address % step; place < view->piece->bytes; place += step) {
		u64 word;

		memcpy(&word, view->bytes + place, sizeof(word));
		if (word - first < span)
			add_pointer(view, word);
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
	if (!segment->is_executable) {
		look_at_data(&view);
		return;
	}
	view.row = row_of(search, view.address);
	look_at_distances(&view);
	if (search->is_fixed)
		look_at_addresses(&view);
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
		function->call = search->first + piece->calls.items[i].from;
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
	size_t count = facts->functions.count;
	struct callers_search *search;

	if (facts->has_callers || facts->callers_search || !count)
		return;
	search = must_alloc(sizeof(*search));
	search->facts = facts;
	search->first = facts->functions.items[0].start;
	search->end = facts->functions.items[count - 1].end;
	search->is_fixed = image->segments.items[0].address != 0;
	facts->callers_search = search;
	if (search->end - search->first > SPAN_MAX_BYTES)
		return;
	sort_functions(search);
	cut_into_pieces(search);
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
	free(search->starts);
	free(search->row_of_block);
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
	if (!search->starts) {
		point_at_all(facts);
		code_callers_end(facts);
		return;
	}
	parallel_finish(&search->crew);
	for (size_t i = 0; i < search->pieces.count; i++)
		count_piece(search, &search->pieces.items[i]);
	for (size_t i = 0; i < image->slots.count; i++)
		point_at(facts, image->slots.items[i].target);
	point_at(facts, image->entry);
	code_callers_end(facts);
}
