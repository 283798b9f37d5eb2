/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lives of threads. A fork begins one; a part of a recording that is counted alone does not know
 * of the lives that had begun before it, so what happens to those is kept until they are known.
 */
#include "profile/thread_lives.h"

thread_id thread_lives_known(const struct thread_lives *lives, u32 tid)
{
	return idmap_get(&lives->rows, tid);
}

thread_id thread_lives_row(struct thread_lives *lives, struct profile *profile,
			   const struct sample *sample, string_id name)
{
	u32 *place = idmap_place(&lives->rows, sample->tid);

	if (*place)
		return *place;
	*place = (u32)profile->threads.count;
	*vec_add(&profile->threads) = (struct thread_row){
		.pid = sample->pid,
		.tid = sample->tid,
		.comm = name,
		.began_before = !idmap_get(&lives->begun, sample->tid),
	};
	return *place;
}

void thread_lives_rename(struct thread_lives *lives, struct profile *profile, u32 tid,
			 string_id name)
{
	thread_id row = thread_lives_known(lives, tid);

	if (row)
		profile->threads.items[row].comm = name;
	if (name && !idmap_get(&lives->begun, tid))
		*idmap_place(&lives->renamed, tid) = name;
}

void thread_lives_begin(struct thread_lives *lives, u32 tid)
{
	idmap_remove(&lives->rows, tid);
	*idmap_place(&lives->begun, tid) = 1;
}

static string_id join_string(struct profile *profile, const struct profile *other, string_id id)
{
	return intern_text(&profile->strings, profile_text(other, id));
}

/* Lives that were there before have the names that they got. */
static void take_names(const struct thread_lives *lives, struct profile *profile,
		       const struct thread_lives *next, const struct profile *other)
{
	for (size_t i = 0; i < next->renamed.capacity; i++) {
		const struct idmap_slot *slot = &next->renamed.slots[i];
		thread_id row = slot->value ? thread_lives_known(lives, (u32)slot->key) : 0;

		if (row)
			profile->threads.items[row].comm = join_string(profile, other, slot->value);
	}
}

/* What has begun anew and was not sampled since has no row. */
static void take_ends(struct thread_lives *lives, const struct thread_lives *next)
{
	for (size_t i = 0; i < next->begun.capacity; i++) {
		const struct idmap_slot *slot = &next->begun.slots[i];

		if (!slot->value)
			continue;
		if (!thread_lives_known(next, (u32)slot->key))
			idmap_remove(&lives->rows, slot->key);
		*idmap_place(&lives->begun, slot->key) = 1;
	}
}

void thread_lives_continue(struct thread_lives *lives, struct profile *profile,
			   const struct thread_lives *next, const struct profile *other,
			   thread_id *ret_rows)
{
	take_names(lives, profile, next, other);
	for (thread_id id = 1; id < other->threads.count; id++) {
		struct thread_row row = other->threads.items[id];
		u32 *place = idmap_place(&lives->rows, row.tid);

		if (!*place || !row.began_before) {
			row.comm = join_string(profile, other, row.comm);
			*place = (u32)profile->threads.count;
			*vec_add(&profile->threads) = row;
		}
		ret_rows[id] = *place;
	}
	take_ends(lives, next);
}

void thread_lives_release(struct thread_lives *lives)
{
	idmap_release(&lives->rows);
	idmap_release(&lives->begun);
	idmap_release(&lives->renamed);
}
