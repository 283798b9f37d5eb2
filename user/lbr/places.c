/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Places by address, and which code goes on in which.
 */
#include "lbr/places.h"

#include "base/idmap.h"
#include "lbr/places_reach.h"

#include <stdlib.h>
#include <string.h>

static void add_first_rows(struct places *places)
{
	*vec_add(&places->rows) = (struct place){0};
	*vec_add(&places->binaries) = NULL;
	*vec_add(&places->files) = 0;
}

struct places *places_new(const struct process_table *processes, const char *symfs,
			  const struct lbr_keeper *keeper)
{
	struct places *places = must_alloc_table(1, sizeof(*places));

	places->processes = processes;
	places->near = &places_no_span;
	places->symfs = symfs;
	places->shelf = code_shelf_new(keeper);
	places->owns_shelf = true;
	add_first_rows(places);
	place_steps_grow(places);
	return places;
}

struct places *places_for_part(struct places *first, const struct process_table *processes)
{
	struct places *places = must_alloc_table(1, sizeof(*places));

	places->processes = processes;
	places->near = &places_no_span;
	places->symfs = first->symfs;
	places->shelf = first->shelf;
	add_first_rows(places);
	place_steps_grow(places);
	return places;
}

/* An array of its own in place of the one that was copied with the struct around it. */
#define OWN_ITEMS(vec)                                                                      \
	do {                                                                                \
		const void *items_ = (vec)->items;                                          \
                                                                                            \
		(vec)->items = must_alloc_array((vec)->capacity, sizeof(*(vec)->items));    \
		if (items_)                                                                 \
			memcpy((vec)->items, items_, (vec)->count * sizeof(*(vec)->items)); \
	} while (0)

struct places *places_beside(struct places *learned, const struct process_table *processes)
{
	struct places *places = must_alloc_table(1, sizeof(*places));

	*places = *learned;
	OWN_ITEMS(&places->rows);
	OWN_ITEMS(&places->binaries);
	OWN_ITEMS(&places->files);
	OWN_ITEMS(&places->bodies);
	OWN_ITEMS(&places->shifts);
	places->of_place = idmap_copy(&learned->of_place);
	places->of_file = idmap_copy(&learned->of_file);
	places->of_body = idmap_copy(&learned->of_body);
	places->shift_of = idmap_copy(&learned->shift_of);
	places->reached = idmap_copy(&learned->reached);
	places->of_kind = idmap_copy(&learned->of_kind);
	place_steps_copy(places, learned);
	places->owns_shelf = false;
	places_set_processes(places, processes);
	return places;
}

void places_set_processes(struct places *places, const struct process_table *processes)
{
	places->processes = processes;
	places->near = &places_no_span;
	places->generation = 0;
}

void places_free(struct places *places)
{
	if (!places)
		return;
	place_steps_release(places);
	vec_release(&places->rows);
	vec_release(&places->binaries);
	vec_release(&places->files);
	vec_release(&places->bodies);
	vec_release(&places->shifts);
	idmap_release(&places->of_place);
	idmap_release(&places->of_file);
	idmap_release(&places->of_body);
	idmap_release(&places->shift_of);
	idmap_release(&places->reached);
	idmap_release(&places->of_kind);
	if (places->owns_shelf)
		code_shelf_free(places->shelf);
	free(places);
}

u64 places_missing(const struct places *places)
{
	return places->missing;
}

/* --- places --- */

u32 places_body(struct places *places, u32 binary, u32 function)
{
	u32 *body = idmap_place(&places->of_body, (u64)binary << 32 | function);

	if (!*body) {
		*vec_add(&places->bodies) = (struct place_body){.binary = binary,
								.function = function};
		*body = (u32)places->bodies.count;
	}
	return *body;
}

static void describe(struct places *places, struct place *place)
{
	const struct code_facts *facts = places->binaries.items[place->binary];
	struct code_frame frame;

	place->function = code_facts_function(facts, place->address);
	if (place->function == NO_FUNCTION)
		return;
	pthread_mutex_lock(&places->shelf->lock);
	if (!(facts->functions.items[place->function].flags & FUNCTION_IS_GAP))
		place->body = places_body(places, place->binary, place->function);
	frame = code_facts_frame(facts, place->address);
	pthread_mutex_unlock(&places->shelf->lock);
	place->pointer = frame.pointer;
	place->is_outermost = frame.is_outermost;
	place->is_signal = frame.is_signal;
}

/* Most places are leaves, of which nobody asks for the instruction. */
place_id places_read_call(struct places *places, place_id id)
{
	struct place *place = &places->rows.items[id];
	struct instruction instruction;
	bool is_there;

	if (place->is_read || place->function == NO_FUNCTION)
		return id;
	place->is_read = true;
	pthread_mutex_lock(&places->shelf->lock);
	is_there = code_facts_instruction(places->binaries.items[place->binary], place->address,
					  &instruction);
	pthread_mutex_unlock(&places->shelf->lock);
	if (is_there) {
		place->call = instruction.kind;
		place->call_bytes = instruction.length;
		place->call_target = instruction.target;
	}
	return id;
}

static place_id known_place(const struct places *places, u32 binary, u64 address)
{
	u32 id = idmap_get(&places->of_place, place_hash(address, binary));

	return id && places->rows.items[id].address == address &&
			       places->rows.items[id].binary == binary
		       ? id
		       : 0;
}

static place_id add_place(struct places *places, const struct place *place)
{
	place_id id = (place_id)places->rows.count;

	*vec_add(&places->rows) = *place;
	*idmap_place(&places->of_place, place_hash(place->address, place->binary)) = id;
	return id;
}

place_id places_in(struct places *places, u32 binary, u64 address)
{
	struct place place = {.address = address, .binary = binary, .function = NO_FUNCTION};
	place_id id = known_place(places, binary, address);

	if (id)
		return id;
	if (binary)
		describe(places, &place);
	return add_place(places, &place);
}

place_id places_add(struct places *places, const struct place *place)
{
	place_id id = known_place(places, place->binary, place->address);

	return id ? id : add_place(places, place);
}

/* What is around an address that is looked at for the first time. */
static struct recent_span find_span(struct places *places, u32 pid, u64 generation, u64 address)
{
	const struct mapped *mapped = process_table_find(places->processes, pid, address,
							 SPACE_USER);
	struct recent_span span = {
		.generation = generation, .first = address, .bytes = 1, .pid = pid};
	const struct code_segment *segment;
	const struct code_facts *facts;
	u64 offset, end;
	u32 binary;

	if (!mapped)
		return span;
	binary = places_binary(places, mapped);
	facts = places->binaries.items[binary];
	offset = address - mapped->start + mapped->file_offset;
	segment = facts ? code_image_segment(&facts->image, offset) : NULL;
	if (!segment)
		return span;
	/* From where both begin to where the first of them ends. */
	span.binary = binary;
	span.shift = address - (offset - segment->offset + segment->address);
	span.first = address - (offset - segment->offset);
	end = span.first + segment->bytes;
	if (span.first < mapped->start)
		span.first = mapped->start;
	span.bytes = (end < mapped->end ? end : mapped->end) - span.first;
	return span;
}

void places_changed(struct places *places)
{
	places->generation = 0;
}

u64 places_generation(struct places *places, u32 pid)
{
	if (!places->generation || places->pid != pid) {
		places->near = &places_no_span;
		places->pid = pid;
		places->generation = process_table_generation(places->processes, pid, SPACE_USER);
	}
	return places->generation;
}

const struct recent_span *places_span(struct places *places, u32 pid, u64 address)
{
	u64 generation = places_generation(places, pid);
	struct recent_span *span =
		&places->recent_spans[place_hash(address >> 16, generation) % RECENT_SPANS];

	if (span->generation != generation || span->pid != pid ||
	    address - span->first >= span->bytes)
		*span = find_span(places, pid, generation, address);
	return span;
}

static place_id look_up(struct places *places, u32 pid, u64 address)
{
	const struct recent_span *span = places_span(places, pid, address);

	return places_in(places, span->binary, address - span->shift);
}

place_id places_find(struct places *places, u32 pid, u64 address)
{
	u64 generation = places_generation(places, pid);
	struct recent_place *recent =
		&places->recent[(address ^ address >> 12 ^ generation) % RECENT_PLACES];

	if (!recent->id || recent->address != address || recent->generation != generation)
		*recent = (struct recent_place){address, generation, look_up(places, pid, address)};
	return recent->id;
}

/* The first of all places of a kind that was asked for stands for the others. */
static place_id place_of_kind(struct places *places, u32 binary, u64 address, u32 kind)
{
	struct recent_kind *recent =
		&places->recent_kinds[(kind >> 4 ^ kind ^ binary) % RECENT_KINDS];
	u32 *id;

	if (recent->kind == kind && recent->binary == binary)
		return recent->id;
	id = idmap_place(&places->of_kind, (u64)binary << 32 | kind);
	if (!*id)
		*id = places_in(places, binary, address);
	*recent = (struct recent_kind){kind, binary, *id};
	return *id;
}

place_id places_leaf(struct places *places, u32 pid, u64 address)
{
	const struct recent_span *span = places_span(places, pid, address);
	struct code_facts *facts = places->binaries.items[span->binary];
	u64 linked = address - span->shift;
	u32 kind = facts ? code_facts_kind(facts, linked) : KIND_MIXED;

	if (kind == KIND_NOT_ASKED) {
		pthread_mutex_lock(&places->shelf->lock);
		kind = code_facts_find_kind(facts, linked);
		pthread_mutex_unlock(&places->shelf->lock);
	}
	return kind == KIND_MIXED ? places_find(places, pid, address)
				  : place_of_kind(places, span->binary, linked, kind);
}

const struct place *places_at(const struct places *places, place_id id)
{
	return &places->rows.items[id];
}

/* A search for where a process has the code of a binary. */
struct copies_search {
	const struct code_image *image;
	struct place_shift *found;
};

static void take_copy(struct place_shift *found, u64 shift)
{
	if (!found->copies || found->shift != shift)
		found->copies++;
	found->shift = shift;
}

static void look_for_copy(void *context, const struct mapped *mapped)
{
	const struct copies_search *search = context;
	u64 first = mapped->file_offset, end = first + (mapped->end - mapped->start);

	for (size_t i = 0; i < search->image->segments.count && !mapped->is_data; i++) {
		const struct code_segment *segment = &search->image->segments.items[i];

		if (segment->is_executable && segment->offset < end &&
		    segment->offset + segment->bytes > first)
			take_copy(search->found,
				  mapped->start - first + segment->offset - segment->address);
	}
}

static struct place_shift shift_of(struct places *places, u32 pid, u32 binary)
{
	u64 generation = places_generation(places, pid);
	u32 *row = idmap_place(&places->shift_of, (u64)pid << 32 | binary);
	struct place_shift *shift;

	if (!*row) {
		*vec_add(&places->shifts) = (struct place_shift){0};
		*row = (u32)places->shifts.count;
	}
	shift = &places->shifts.items[*row - 1];
	if (shift->generation != generation) {
		struct copies_search search = {&places->binaries.items[binary]->image, shift};
		struct address_space *space = process_table_hold(places->processes, pid);

		*shift = (struct place_shift){.generation = generation};
		process_table_each_held(space, places->files.items[binary], look_for_copy, &search);
		process_table_let_go(space);
	}
	return *shift;
}

u64 places_address(struct places *places, u32 pid, place_id id)
{
	const struct place *place = places_at(places, id);
	struct place_shift shift = {.copies = 1};
	u64 address;

	if (place->binary)
		shift = shift_of(places, pid, place->binary);
	if (shift.copies > 1)
		return ADDRESS_SEVERAL;
	address = shift.copies ? place->address + shift.shift : 0;
	/* Something else may be mapped over it. */
	return address && places_find(places, pid, address) == id ? address : 0;
}

u64 places_address_beside(struct places *places, u32 pid, place_id id, u64 address)
{
	u64 beside = places_at(places, id)->address + places_span(places, pid, address)->shift;

	return places_find(places, pid, beside) == id ? beside : 0;
}

/* --- what the code says --- */

bool places_can_call(const struct places *places, place_id from, place_id to)
{
	const struct place *call = places_at(places, from);
	const struct place *target = places_at(places, to);

	if (!call->binary)
		return true;
	if (call->call == INSTRUCTION_CALL_INDIRECT)
		return true;
	return call->call == INSTRUCTION_CALL && call->binary == target->binary &&
	       call->call_target == target->address;
}

bool places_reaches(struct places *places, u32 from, u32 to)
{
	struct recent_reach *recent = &places->recent_reaches[(from * 31 + to) % RECENT_REACHES];
	u32 *known;
	bool is_reached;

	if (recent->from == from && recent->to == to)
		return recent->is_reached;
	known = idmap_place(&places->reached, (u64)from << 32 | to);
	if (*known) {
		is_reached = *known == 2;
	} else {
		*known = 1;
		pthread_mutex_lock(&places->shelf->lock);
		is_reached = places_reach(places, from, to);
		pthread_mutex_unlock(&places->shelf->lock);
		*idmap_place(&places->reached, (u64)from << 32 | to) = is_reached ? 2 : 1;
	}
	*recent = (struct recent_reach){from, to, is_reached};
	return is_reached;
}

bool places_can_contain(struct places *places, place_id entry, place_id now)
{
	u32 from = places_at(places, entry)->body, to = places_at(places, now)->body;

	return from == to || !from || !to || places_reaches(places, from, to);
}
