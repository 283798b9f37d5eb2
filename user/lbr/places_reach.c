/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A search from function to function along jumps that leave them.
 */
#include "lbr/places_reach.h"

/* A longer way is not followed: then nothing is contradicted. */
enum { BODIES_MAX = 256 };

struct search {
	struct places *places;
	u32 wanted;
	u32 bodies[BODIES_MAX]; /* found so far; those from `next` on are to be looked at */
	u32 count, next;
	bool is_found;
};

static void reach_function(struct search *search, u32 binary, u64 address)
{
	const struct code_facts *facts = search->places->binaries.items[binary];
	u32 function = code_facts_function(facts, address);
	u32 body;

	if (function == NO_FUNCTION)
		return;
	body = places_body(search->places, binary, function);
	search->is_found |= body == search->wanted;
	for (u32 i = 0; i < search->count; i++)
		if (search->bodies[i] == body)
			return;
	if (search->count == BODIES_MAX)
		search->is_found = true;
	else
		search->bodies[search->count++] = body;
}

static struct code_facts *wanted_facts(const struct search *search, u32 *ret_function)
{
	const struct place_body *wanted = &search->places->bodies.items[search->wanted - 1];

	*ret_function = wanted->function;
	return search->places->binaries.items[wanted->binary];
}

/* To where a pointer leads: any function whose address somebody may have, and what those go on in.
 */
static void reach_pointed_at(struct search *search)
{
	u32 function;
	struct code_facts *facts = wanted_facts(search, &function);

	search->is_found |= code_facts_is_pointed_at(facts, function) ||
			    facts->functions.items[function].has_jumps;
}

/* The part of the dynamic linker that binds a function and then jumps to it. */
static void reach_loader(struct search *search)
{
	u32 function;
	struct code_facts *facts = wanted_facts(search, &function);

	search->is_found |= facts->is_loader &&
			    code_facts_read_function(facts, function)->flags & FUNCTION_JUMPS_FAR;
}

/* A function that is chosen when the program starts, among those of its binary. */
static void reach_chosen(struct search *search, u32 binary)
{
	if (search->places->bodies.items[search->wanted - 1].binary == binary)
		reach_pointed_at(search);
}

static void reach_versions(struct search *search, u32 binary, const char *name)
{
	struct code_facts *facts = search->places->binaries.items[binary];
	const struct code_symbol *symbol;

	for (u32 version = 0; (symbol = code_facts_exported(facts, name, version)); version++) {
		if (symbol->is_resolver)
			reach_chosen(search, binary);
		else
			reach_function(search, binary, symbol->address);
	}
}

static void reach_name(struct search *search, const char *name)
{
	const struct places *places = search->places;

	for (u32 binary = 1; binary < places->binaries.count; binary++)
		if (places->binaries.items[binary])
			reach_versions(search, binary, name);
}

static void reach_exit(struct search *search, u32 binary, const struct code_exit *exit)
{
	if (exit->slot)
		reach_loader(search);
	if (exit->slot && exit->slot->name && *exit->slot->name)
		reach_name(search, exit->slot->name);
	else if (exit->slot && exit->slot->is_resolver)
		reach_chosen(search, binary);
	else if (exit->target)
		reach_function(search, binary, exit->target);
}

/* Most functions that go on in another one jump there directly. */
static bool jumps_to_wanted(const struct search *search, const struct place_body *body)
{
	u32 wanted;
	const struct code_facts *facts = wanted_facts(search, &wanted);

	return facts == search->places->binaries.items[body->binary] &&
	       code_facts_jumps_into(facts, body->function, wanted);
}

static void reach_from(struct search *search, const struct place_body *body)
{
	struct code_facts *facts = search->places->binaries.items[body->binary];
	const struct code_function *function = &facts->functions.items[body->function];
	u32 first, count;

	if (!(function->flags & (FUNCTION_IS_READ | FUNCTION_IS_GAP)) &&
	    jumps_to_wanted(search, body)) {
		search->is_found = true;
		return;
	}
	function = code_facts_read_function(facts, body->function);
	first = function->exit_first;
	count = function->exit_count;
	if (function->flags & FUNCTION_IS_STUB && function->flags & FUNCTION_JUMPS_FAR)
		reach_loader(search);
	else if (function->flags & FUNCTION_JUMPS_FAR)
		reach_pointed_at(search);
	for (u32 i = 0; i < count && !search->is_found; i++) {
		struct code_exit exit = facts->exits.items[first + i];

		reach_exit(search, body->binary, &exit);
	}
}

bool places_reach(struct places *places, u32 from, u32 to)
{
	struct search search = {.places = places, .wanted = to, .bodies = {from}, .count = 1};

	while (!search.is_found && search.next < search.count) {
		struct place_body body = places->bodies.items[search.bodies[search.next++] - 1];

		reach_from(&search, &body);
	}
	return search.is_found;
}
