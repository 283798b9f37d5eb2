/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Free runs of words in a sorted list, handed out first fit.
 *
 * There are as many tables as mapped binaries, some hundreds, so that walking a list costs less
 * than reading one of them.
 */
#include "capture/word_space.h"

#include <string.h>

void word_space_release(struct word_space *space)
{
	vec_release(&space->unused);
	vec_release(&space->resting);
	space->word_count = 0;
}

static u32 rounded(u32 count)
{
	return (count + UNWIND_RULE_WORDS - 1) / UNWIND_RULE_WORDS * UNWIND_RULE_WORDS;
}

static void remove_unused(struct word_space *space, size_t at)
{
	struct word_run *runs = space->unused.items;

	space->unused.count--;
	memmove(runs + at, runs + at + 1, (space->unused.count - at) * sizeof(*runs));
}

static void insert_unused(struct word_space *space, size_t at, struct word_run run)
{
	struct word_run *runs;

	vec_add(&space->unused);
	runs = space->unused.items;
	memmove(runs + at + 1, runs + at, (space->unused.count - 1 - at) * sizeof(*runs));
	runs[at] = run;
}

/* Frees a run, together with its neighbours if those are free. */
static void put_back(struct word_space *space, struct word_run run)
{
	size_t at = 0;

	while (at < space->unused.count && space->unused.items[at].first < run.first)
		at++;
	if (at < space->unused.count && run.first + run.count == space->unused.items[at].first) {
		run.count += space->unused.items[at].count;
		remove_unused(space, at);
	}
	if (at &&
	    space->unused.items[at - 1].first + space->unused.items[at - 1].count == run.first)
		space->unused.items[at - 1].count += run.count;
	else
		insert_unused(space, at, run);
}

void word_space_grow(struct word_space *space, u32 count)
{
	put_back(space, (struct word_run){space->word_count, count});
	space->word_count += count;
}

bool word_space_take(struct word_space *space, u32 count, u32 *ret_first)
{
	count = rounded(count);
	for (size_t i = 0; i < space->unused.count; i++) {
		struct word_run *run = &space->unused.items[i];

		if (run->count < count)
			continue;
		*ret_first = run->first;
		run->first += count;
		run->count -= count;
		if (!run->count)
			remove_unused(space, i);
		return true;
	}
	return false;
}

u32 word_space_missing(const struct word_space *space, u32 count)
{
	const struct word_run *last = NULL;
	u32 at_end = 0;

	count = rounded(count);
	for (size_t i = 0; i < space->unused.count; i++) {
		last = &space->unused.items[i];
		if (last->count >= count)
			return 0;
	}
	if (last && last->first + last->count == space->word_count)
		at_end = last->count;
	return count - at_end;
}

void word_space_give(struct word_space *space, u32 first, u32 count, u64 now_ns)
{
	*vec_add(&space->resting) = (struct resting_run){{first, rounded(count)}, now_ns};
}

bool word_space_wake(struct word_space *space, u64 until_ns)
{
	size_t woken = 0;

	for (; woken < space->resting.count; woken++) {
		if (space->resting.items[woken].since_ns > until_ns)
			break;
		put_back(space, space->resting.items[woken].run);
	}
	if (!woken)
		return false;
	space->resting.count -= woken;
	memmove(space->resting.items, space->resting.items + woken,
		space->resting.count * sizeof(*space->resting.items));
	return true;
}
