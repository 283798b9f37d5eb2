/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who can have called, by the code: looked for once, when somebody asks.
 */
#include "lbr/places_reach.h"

enum { NOT_LOOKED_FOR = 0 };

static const u64 none = ~0ULL;

/* The place of a CALL that was looked for, which is read then. */
static place_id found_call(struct places *places, u32 binary, u64 call)
{
	return call == none ? 0 : places_read_call(places, places_in(places, binary, call));
}

place_id places_call_before(struct places *places, place_id return_place)
{
	struct place *place = &places->rows.items[return_place];

	if (!place->binary)
		return 0;
	if (place->call_before == NOT_LOOKED_FOR) {
		u64 call;

		pthread_mutex_lock(&places->shelf->lock);
		call = code_facts_call_before(places->binaries.items[place->binary],
					      place->address);
		pthread_mutex_unlock(&places->shelf->lock);
		place->call_before = call ? call : none;
	}
	return found_call(places, place->binary, place->call_before);
}

u32 places_calls(struct places *places, place_id now)
{
	struct place *place = &places->rows.items[now];

	if (!place->body)
		return CALLS_UNKNOWN;
	if (place->calls == NOT_LOOKED_FOR) {
		u32 calls;

		pthread_mutex_lock(&places->shelf->lock);
		calls = code_facts_calls(places->binaries.items[place->binary], place->function);
		pthread_mutex_unlock(&places->shelf->lock);
		place->calls = calls ? calls : CALLS_UNKNOWN;
	}
	return place->calls;
}

u32 places_calls_from(struct places *places, place_id now, place_id from)
{
	const struct place *to = &places->rows.items[now];
	struct place *call = &places->rows.items[from];
	struct code_facts *facts = places->binaries.items[to->binary];
	u64 entry;

	if (places_calls(places, now) == CALLS_UNKNOWN || call->binary != to->binary)
		return 0;
	pthread_mutex_lock(&places->shelf->lock);
	entry = code_facts_entry(facts, to->function);
	if (call->call_target == entry && call->alike == NOT_LOOKED_FOR)
		call->alike = code_facts_calls_to(facts, call->function, entry);
	pthread_mutex_unlock(&places->shelf->lock);
	return call->call_target == entry ? call->alike : 0;
}

place_id places_only_call(struct places *places, place_id now)
{
	struct place *place = &places->rows.items[now];

	if (!place->body)
		return 0;
	if (place->only_call == NOT_LOOKED_FOR) {
		u64 call;

		pthread_mutex_lock(&places->shelf->lock);
		call = code_facts_only_call(places->binaries.items[place->binary], place->function);
		pthread_mutex_unlock(&places->shelf->lock);
		place->only_call = call ? call : none;
	}
	return found_call(places, place->binary, place->only_call);
}
