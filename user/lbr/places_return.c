/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Return addresses, as frame pointers list them: deep stacks have the same ones again and again.
 */
#include "lbr/places_reach.h"

/* Where the CALL leads that a return address is behind of, if it says so itself; 0: it does not. */
static place_id target_of(struct places *places, u32 pid, u64 back, place_id call)
{
	const struct place *place = places_at(places, call);
	u64 from = back - place->call_bytes;

	if (place->call != INSTRUCTION_CALL)
		return 0;
	return places_find(places, pid, from - place->address + place->call_target);
}

static void look_at_return(struct places *places, u32 pid, place_id now, struct place_return *found)
{
	place_id back = places_find(places, pid, found->back);

	found->is_signal = places_at(places, back)->is_signal;
	if (found->is_signal)
		return;
	found->call = places_call_before(places, back);
	if (!found->call)
		return;
	found->entry = target_of(places, pid, found->back, found->call);
	found->fits = !found->entry || places_can_contain(places, found->entry, now);
}

const struct place_return *places_return(struct places *places, u32 pid, place_id now, u64 back)
{
	u64 generation = places_generation(places, pid);
	u32 body = places_at(places, now)->body;
	struct place_return *found =
		&places->recent_returns[(back ^ back >> 12 ^ (u64)body * 31) % RECENT_RETURNS];

	if (found->back == back && found->body == body && found->generation == generation)
		return found;
	*found = (struct place_return){.back = back, .generation = generation, .body = body};
	look_at_return(places, pid, now, found);
	return found;
}
