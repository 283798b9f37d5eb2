/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Mappings in an array sorted by start, never overlapping, copied on write.
 */
#include "event/address_space.h"

#include "base/vec.h"

#include <string.h>

struct address_space {
	VEC(struct mapped) pieces; /* ascending, disjoint */
	u64 generation;
	u32 owners;
	u16 execs; /* of struct mapped, for what comes */
};

struct address_space *address_space_new(void)
{
	struct address_space *space = must_alloc(sizeof(*space));

	space->owners = 1;
	return space;
}

struct address_space *address_space_share(struct address_space *space)
{
	space->owners++;
	return space;
}

void address_space_drop(struct address_space *space)
{
	if (!space || --space->owners)
		return;
	vec_release(&space->pieces);
	free(space);
}

/* Makes `*space` ours alone. */
static struct address_space *own(struct address_space **space, u64 generation)
{
	struct address_space *old = *space;

	if (old->owners > 1) {
		struct address_space *copy = address_space_new();

		vec_reserve(&copy->pieces, old->pieces.count + 1);
		if (old->pieces.count)
			memcpy(copy->pieces.items, old->pieces.items,
			       old->pieces.count * sizeof(*old->pieces.items));
		copy->pieces.count = old->pieces.count;
		copy->execs = old->execs;
		address_space_drop(old);
		*space = copy;
	}
	(*space)->generation = generation;
	return *space;
}

/* Index of the first piece that ends above `address`; the count if none does. */
static size_t first_ending_above(const struct address_space *space, u64 address)
{
	size_t low = 0, high = space->pieces.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->pieces.items[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Replaces pieces [from, to) by `count` new ones. */
static void splice(struct address_space *space, size_t from, size_t to, const struct mapped *pieces,
		   size_t count)
{
	size_t behind = space->pieces.count - to;

	vec_reserve(&space->pieces, count);
	memmove(&space->pieces.items[from + count], &space->pieces.items[to],
		behind * sizeof(*pieces));
	if (count)
		memcpy(&space->pieces.items[from], pieces, count * sizeof(*pieces));
	space->pieces.count = from + count + behind;
}

/* A program that is started again where addresses are not random maps what was there. */
static bool is_there(const struct address_space *space, size_t at, const struct mapped *mapped)
{
	const struct mapped *piece;

	if (at == space->pieces.count)
		return false;
	piece = &space->pieces.items[at];
	return piece->start == mapped->start && piece->end == mapped->end &&
	       piece->file == mapped->file && piece->file_offset == mapped->file_offset &&
	       piece->owner_pid == mapped->owner_pid && piece->is_data == mapped->is_data &&
	       piece->is_shared == mapped->is_shared;
}

void address_space_map(struct address_space **shared, const struct mapped *mapped, u64 generation)
{
	size_t from = first_ending_above(*shared, mapped->start), to = from;
	struct address_space *space;
	struct mapped pieces[3];
	size_t count = 0;

	if (is_there(*shared, from, mapped)) {
		if ((*shared)->pieces.items[from].execs != (*shared)->execs)
			own(shared, (*shared)->generation)->pieces.items[from].execs =
				(*shared)->execs;
		return;
	}
	space = own(shared, generation);
	while (to < space->pieces.count && space->pieces.items[to].start < mapped->end)
		to++;
	if (from < to && space->pieces.items[from].start < mapped->start) {
		pieces[count] = space->pieces.items[from];
		pieces[count++].end = mapped->start;
	}
	pieces[count] = *mapped;
	pieces[count++].execs = space->execs;
	if (from < to && space->pieces.items[to - 1].end > mapped->end) {
		struct mapped *tail = &pieces[count++];

		*tail = space->pieces.items[to - 1];
		tail->file_offset += mapped->end - tail->start;
		tail->start = mapped->end;
	}
	splice(space, from, to, pieces, count);
}

void address_space_leave_behind(struct address_space **shared)
{
	own(shared, (*shared)->generation)->execs++;
}

void address_space_renew(struct address_space *space, u64 generation)
{
	space->generation = generation;
}

void address_space_unmap(struct address_space **shared, u64 start, u64 generation)
{
	size_t at = first_ending_above(*shared, start);

	if (at == (*shared)->pieces.count || (*shared)->pieces.items[at].start != start)
		return;
	splice(own(shared, generation), at, at + 1, NULL, 0);
}

const struct mapped *address_space_find(const struct address_space *space, u64 address)
{
	size_t at = first_ending_above(space, address);

	if (at == space->pieces.count || space->pieces.items[at].start > address)
		return NULL;
	return &space->pieces.items[at];
}

void address_space_each(const struct address_space *space,
			void (*take)(void *context, const struct mapped *mapped), void *context)
{
	for (size_t i = 0; i < space->pieces.count; i++)
		take(context, &space->pieces.items[i]);
}

u64 address_space_generation(const struct address_space *space)
{
	return space->generation;
}

/* --- of held ones --- */

void process_table_let_go(struct address_space *held)
{
	address_space_drop(held);
}

const struct mapped *process_table_find_held(const struct address_space *held, u64 address)
{
	return address_space_find(held, address);
}

bool process_table_is_free_held(const struct address_space *held, u64 start, u64 bytes)
{
	size_t at = held ? first_ending_above(held, start) : 0;

	return !held || at == held->pieces.count ||
	       (held->pieces.items[at].start > start &&
		held->pieces.items[at].start - start >= bytes);
}

void process_table_each_held(const struct address_space *held, u32 file,
			     void (*take)(void *context, const struct mapped *mapped),
			     void *context)
{
	for (size_t i = 0; held && i < held->pieces.count; i++) {
		const struct mapped *piece = &held->pieces.items[i];

		if (piece->file->id == file && piece->execs == held->execs)
			take(context, piece);
	}
}
