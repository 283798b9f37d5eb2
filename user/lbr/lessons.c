/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sink that hears a recording before it is stitched.
 *
 * Who was seen calling whom must be known of all samples: of two callers of which one was not
 * heard of, the other would be certain. What only says how often and when is learned from some
 * thousands of samples, spread over the recording, whatever its length.
 */
#include "lbr/stitcher.h"

#include "base/memory.h"

#include <stddef.h>
#include <string.h>
#include <xxhash.h>

enum { PICKED_MAX = 1 << 14 }; /* between two doublings of the stride */

struct lbr_stitcher *stitcher_of_lessons(struct event_sink *sink)
{
	return (struct lbr_stitcher *)((char *)sink - offsetof(struct lbr_stitcher, learning));
}

bool stitcher_is_concerned(const struct lbr_stitcher *stitcher, const struct sample *sample)
{
	return sample->source < stitcher->source_count &&
	       lbr_is_recorded(&stitcher->sources[sample->source]);
}

/* How many chains come before the next one that is picked: every stride-th. */
static size_t unpicked(const struct lessons *lessons)
{
	return -lessons->chains & (lessons->stride - 1);
}

/* When there are too many, as many as a stride of twice that would have given are kept in mind. */
static void pick(struct lessons *lessons)
{
	if (++lessons->picked < PICKED_MAX)
		return;
	lessons->picked /= 2;
	lessons->stride *= 2;
}

/* A chain that is the same with other code is another one. */
static u64 lesson_of(struct lessons *lessons, const struct chain_ahead *chain)
{
	return chain->key +
	       lineages_sampled(&lessons->lineages, chain->pid) * 0x9e3779b97f4a7c15ULL;
}

static u64 *set_of(const struct lessons *lessons, u64 lesson)
{
	return lessons->seen[(lesson >> 1) % CHAIN_SETS];
}

/* Returns whether a chain is none of those that were seen last of its set. */
static bool see(struct lessons *lessons, u64 lesson)
{
	u64 *seen = set_of(lessons, lesson);

	for (u32 i = 0; i < CHAINS_OF_SET; i++)
		if (seen[i] == lesson)
			return false;
	memmove(seen + 1, seen, (CHAINS_OF_SET - 1) * sizeof(*seen));
	seen[0] = lesson;
	return true;
}

/* Returns how many chains were seen before, up to the first that was not. */
static size_t pass_seen(struct lessons *lessons, const struct chain_ahead *chains, size_t count)
{
	enum { AHEAD = 16 }; /* sets that are on their way from memory; a power of two */
	u64 ahead[AHEAD];

	for (size_t i = 0; i < count + AHEAD; i++) {
		u64 *lesson = &ahead[i % AHEAD];

		if (i >= AHEAD && see(lessons, *lesson))
			return i - AHEAD;
		if (i >= count)
			continue;
		*lesson = lesson_of(lessons, &chains[i]);
		__builtin_prefetch(set_of(lessons, *lesson));
	}
	return count;
}

/* Picked samples are wanted, and all that are new. */
size_t lessons_pass(struct lessons *lessons, const struct chain_ahead *chains, size_t count)
{
	size_t before = unpicked(lessons), most = before < count ? before : count, passed;

	if (!lessons->seen) /* not of who never learns */
		lessons->seen = must_alloc_table(CHAIN_SETS, sizeof(*lessons->seen));
	passed = pass_seen(lessons, chains, most);
	lessons->chains += passed + (passed < count);
	lessons->is_picked = passed == before;
	if (lessons->is_picked && passed < count) {
		see(lessons, lesson_of(lessons, &chains[passed]));
		pick(lessons);
	}
	return passed;
}

/* Of all that is learned from a sample but of which thread and when; 0 if it is not known. */
static u64 lesson_key(const struct lbr_stitcher *stitcher, u64 chain_key, u32 pid)
{
	const u64 parts[] = {chain_key, places_generation(stitcher->places, pid),
			     (u64)stitcher->lessons << 32 | pid};

	return chain_key ? XXH3_64bits(parts, sizeof(parts)) | 1 : 0;
}

/* Learns from a sample of which nothing but the thread and the time is new. Returns whether it was
 * one. */
static bool learn_again(struct lbr_stitcher *stitcher, const struct chain_ahead *chain)
{
	u64 key = lesson_key(stitcher, chain->key, chain->pid);
	struct thread_facts *thread;

	if (!stitcher->lessons_heard.is_picked || !chain->tid ||
	    !threads_know(stitcher->threads, key))
		return false;
	thread = threads_at(stitcher->threads, chain->tid);
	if (thread)
		threads_learn_again(stitcher->threads, thread, key, chain->time_ns);
	return true;
}

static size_t pass_chains(struct event_sink *sink, const struct chain_ahead *chains, size_t count)
{
	struct lbr_stitcher *stitcher = stitcher_of_lessons(sink);
	size_t passed = 0;

	stitcher->is_learning = true;
	do {
		passed += lessons_pass(&stitcher->lessons_heard, chains + passed, count - passed);
	} while (passed < count && learn_again(stitcher, &chains[passed]) && ++passed < count);
	return passed;
}

static void learn_anew(struct lbr_stitcher *stitcher, const struct sample *sample)
{
	/* One without key is picked: nobody was asked. */
	bool is_picked = !sample->chain_key || stitcher->lessons_heard.is_picked;

	if (sample_kernel_frames(sample) == sample->frame_count ||
	    (!is_picked && stitcher_knows(stitcher, sample)))
		return;
	stitcher->key = is_picked ? lesson_key(stitcher, sample->chain_key, sample->pid) : 0;
	stitcher_learn(stitcher, sample);
}

static int learn_sample(struct event_sink *sink, const struct sample *sample)
{
	struct lbr_stitcher *stitcher = stitcher_of_lessons(sink);

	stitcher->is_learning = true;
	if (!stitcher_is_concerned(stitcher, sample) || stitcher->settings.tier == LBR_PLAIN)
		return 0;
	learn_anew(stitcher, sample);
	return 0;
}

/* With a stride that is right for the end, no more are picked at the start than later on. */
void lbr_stitcher_expect(struct lbr_stitcher *stitcher, u64 samples)
{
	u64 stride = 1;

	while (samples / stride >= PICKED_MAX)
		stride *= 2;
	stitcher->lessons_heard.stride = stride;
}

void lessons_release(struct lessons *lessons)
{
	free(lessons->seen);
	lineages_release(&lessons->lineages);
}

void lessons_init(struct lbr_stitcher *stitcher)
{
	stitcher->lessons_heard.stride = 1;
	stitcher->learning = (struct event_sink){
		.on_sample = learn_sample,
		.passes_chains = pass_chains,
	};
}
