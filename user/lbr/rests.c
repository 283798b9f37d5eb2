/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packed calls in one array, found by hash, as memo.c has them.
 */
#include "lbr/rests.h"

struct rest_row {
	u32 first, count; /* of calls and bodies */
	struct slots slots;
	u32 asked;	       /* for which thread; 0: for none */
	struct time_span fits; /* that was the answer: at these times */
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

static struct time_span times_of(const struct rest *rest, const struct thread_facts *thread)
{
	if (!thread_fits(thread, &rest->slots, rest->bodies, rest->count))
		return (struct time_span){1, 0};
	return rest->end == LBR_END_WHOLE ? thread_saw(thread, rest->bodies, rest->count)
					  : (struct time_span){0, UINT64_MAX};
}

static bool is_in(const struct time_span *span, u64 time_ns)
{
	return time_ns >= span->first_ns && time_ns <= span->last_ns;
}

bool rest_fits(const struct rest *rest, const struct thread_facts *thread, u64 time_ns)
{
	const struct time_span span = times_of(rest, thread);

	return is_in(&span, time_ns);
}

bool rests_fit(struct rests *rests, u32 number, const struct thread_facts *thread, u64 time_ns)
{
	struct rest_row *row = &rests->rows.items[number - 1];

	if (row->asked != thread->id) {
		const struct rest rest = rests_at(rests, number);

		row->asked = thread->id;
		row->fits = times_of(&rest, thread);
	}
	return is_in(&row->fits, time_ns);
}
