/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Entries of the LBR by where they are in binaries: the same ones come again and again, and of a
 * program that was started again elsewhere, all are known.
 */
#include "base/memory.h"
#include "lbr/places_reach.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_STEPS = 1 << 12, MOST_STEPS = 1 << 17 };

const struct recent_span places_no_span;

static struct place_step *step_slot(const struct places *places, u64 hash)
{
	return &places->steps[hash & (places->step_slots - 1)];
}

void place_steps_grow(struct places *places)
{
	struct place_step *old = places->steps;
	u32 old_slots = places->step_slots;

	places->step_slots = old_slots ? old_slots * 4 : FIRST_STEPS;
	if (places->step_slots > MOST_STEPS)
		places->step_slots = MOST_STEPS;
	places->steps = must_alloc_table(places->step_slots, sizeof(*places->steps));
	places->step_count = 0;
	for (u32 i = 0; i < old_slots; i++) {
		if (!old[i].is_looked_at)
			continue;
		*step_slot(places, place_hash(old[i].from, old[i].to)) = old[i];
		places->step_count++;
	}
	free(old);
}

void place_steps_copy(struct places *places, const struct places *learned)
{
	places->expected = (__typeof__(places->expected)){0};
	places->steps = must_alloc_table(places->step_slots, sizeof(*places->steps));
	memcpy(places->steps, learned->steps, places->step_slots * sizeof(*places->steps));
}

void place_steps_release(struct places *places)
{
	free(places->steps);
	vec_release(&places->expected);
}

/* As far as processes get without asking for five-level page tables. */
static bool is_user_address(u64 address)
{
	return address && !(address >> 47);
}

static void look_at_step(struct places *places, u32 pid, const struct branch *entry,
			 struct place_step *step)
{
	const struct place *from;

	step->is_looked_at = true;
	if (!is_user_address(entry->from) || !is_user_address(entry->to))
		return;
	step->from_place = places_read_call(places, places_find(places, pid, entry->from));
	step->to_place = places_find(places, pid, entry->to);
	step->can_call = places_can_call(places, step->from_place, step->to_place);
	step->to_body = places_at(places, step->to_place)->body;
	from = places_at(places, step->from_place);
	step->from_body = from->body;
	step->call_bytes = from->call_bytes;
	step->pointer = from->pointer;
	step->ends = from->is_outermost || from->is_signal;
}

/* Where an address is of which nobody has asked lately: what no process can have is nowhere. */
static const struct recent_span *far_span(struct places *places, u64 address)
{
	u32 pid = places->expected_pid;

	if (!is_user_address(address))
		return &places_no_span;
	places->near = places_span(places, pid, address);
	return places->near;
}

static struct step_key key_of(struct places *places, const struct branch *entry)
{
	const struct recent_span *from = places->near, *to;
	struct step_key key;

	if (entry->from - from->first >= from->bytes)
		from = far_span(places, entry->from);
	key.from = entry->from - from->shift;
	key.binaries = (u64)from->binary << 32;
	to = places->near;
	if (entry->to - to->first >= to->bytes)
		to = far_span(places, entry->to);
	key.to = entry->to - to->shift;
	key.binaries |= to->binary;
	key.hash = place_hash(key.from, key.to);
	return key;
}

void places_expect_steps(struct places *places, u32 pid, const struct branch *entries, u32 count)
{
	places_generation(places, pid); /* or `near` is another's */
	places->expected_pid = pid;
	places->entries = entries;
	places->expected.count = 0;
	vec_reserve(&places->expected, count);
	places->expected.count = count;
	for (u32 i = 0; i < count; i++) {
		struct step_key key = key_of(places, &entries[i]);

		places->expected.items[i] = key;
		__builtin_prefetch(step_slot(places, key.hash));
	}
}

static struct place_step *look_anew(struct places *places, u32 index)
{
	const struct step_key *key = &places->expected.items[index];
	struct place_step *step;

	if (++places->step_count > places->step_slots && places->step_slots < MOST_STEPS)
		place_steps_grow(places);
	step = step_slot(places, key->hash);
	*step = (struct place_step){.from = key->from, .to = key->to, .binaries = key->binaries};
	look_at_step(places, places->expected_pid, &places->entries[index], step);
	return step;
}

struct place_step *places_step(struct places *places, u32 index)
{
	const struct step_key *key = &places->expected.items[index];
	struct place_step *step = step_slot(places, key->hash);
	bool is_it = step->from == key->from && step->to == key->to &&
		     step->binaries == key->binaries && step->is_looked_at;

	return is_it ? step : look_anew(places, index);
}

bool places_step_fits(struct places *places, const struct place_step *step, u32 body)
{
	u32 from = step->to_body;

	return step->can_call &&
	       (from == body || !from || !body || places_reaches(places, from, body));
}

bool *places_end_note(struct places *places, u32 body, bool is_outermost)
{
	return &(body ? places->bodies.items[body - 1].notes : places->notes_of_none)[is_outermost];
}
