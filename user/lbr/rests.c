/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packed calls in one array, found by hash, as memo.c has them.
 */
#include "lbr/rests.h"

struct rest_row {
	u32 first, count; /* of calls and bodies */
	struct slots slots;
	u32 asked;   /* for which thread; 0: for none */
	bool is_fit; /* that was the answer */
	u8 end;
};

struct rests {
	struct idmap row_of; /* key → row + 1 */
	VEC(struct rest_row) rows;
	VEC(u64) calls;
	VEC(u32) bodies;
	u64 most_bytes;
	u32 forgotten;
};

struct rests *rests_new(u64 most_bytes)
{
	struct rests *rests = must_alloc(sizeof(*rests));

	rests->most_bytes = most_bytes;
	return rests;
}

static void forget(struct rests *rests)
{
	idmap_release(&rests->row_of);
	vec_release(&rests->rows);
	vec_release(&rests->calls);
	vec_release(&rests->bodies);
	rests->forgotten++;
}

void rests_free(struct rests *rests)
{
	if (!rests)
		return;
	forget(rests);
	free(rests);
}

u32 rests_forgotten(const struct rests *rests)
{
	return rests->forgotten;
}

u32 rests_find(const struct rests *rests, u64 key)
{
	return idmap_get(&rests->row_of, key);
}

u32 rests_keep(struct rests *rests, u64 key, const struct rest *rest)
{
	u64 bytes = rests->calls.count * (sizeof(u64) + sizeof(u32)) +
		    rests->rows.count * sizeof(struct rest_row);

	if (bytes > rests->most_bytes)
		forget(rests);
	*vec_add(&rests->rows) = (struct rest_row){
		.first = (u32)rests->calls.count,
		.count = rest->count,
		.slots = rest->slots,
		.end = rest->end,
	};
	/* An empty rest has a place, too. */
	vec_reserve(&rests->calls, 1);
	vec_reserve(&rests->bodies, 1);
	for (u32 i = 0; i < rest->count; i++) {
		*vec_add(&rests->calls) = rest->calls[i];
		*vec_add(&rests->bodies) = rest->bodies[i];
	}
	*idmap_place(&rests->row_of, key) = (u32)rests->rows.count;
	return (u32)rests->rows.count;
}

struct rest rests_at(const struct rests *rests, u32 number)
{
	const struct rest_row *row = &rests->rows.items[number - 1];

	return (struct rest){
		.calls = rests->calls.items + row->first,
		.bodies = rests->bodies.items + row->first,
		.count = row->count,
		.slots = row->slots,
		.end = row->end,
	};
}

bool rests_fit(struct rests *rests, u32 number, const struct thread_facts *thread)
{
	struct rest_row *row = &rests->rows.items[number - 1];

	if (row->asked != thread->id) {
		row->asked = thread->id;
		row->is_fit = thread_fits(thread, &row->slots, rests->bodies.items + row->first,
					  row->count);
	}
	return row->is_fit;
}
