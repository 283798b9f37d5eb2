/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sink: hears of processes, and of samples, those with a call stack go on with what was found.
 */
#include "lbr/stitcher.h"

#include "base/fail.h"
#include "base/memory.h"

#include <errno.h>
#include <stddef.h>
#include <xxhash.h>

enum { STACKS_MAX_BYTES = 64 << 20, RESTS_MAX_BYTES = 4 << 20 };

bool lbr_is_recorded(const struct event_source *source)
{
	return event_source_has_call_stacks(source);
}

static struct lbr_stitcher *stitcher_of(struct event_sink *sink)
{
	return (struct lbr_stitcher *)sink;
}

/* --- samples that were there before --- */

/* Of what the outcome of a sample depends on, and odd, as frames of user space depend on their
 * process; 0 if it is not known. */
static u64 outcome_key(struct lbr_stitcher *stitcher, const struct sample *sample)
{
	bool is_plain = stitcher->settings.tier == LBR_PLAIN;
	const u64 parts[] = {sample->chain_key, (u64)sample->walked << 8 | sample->cut,
			     stitcher->lessons, is_plain ? 0 : stitcher_variant(stitcher, sample)};

	return sample->chain_key ? XXH3_64bits(parts, sizeof(parts)) | 1 : 0;
}

enum { KEY_WITHOUT_REST = 2 }; /* is turned over in a key */

/* Of an outcome with a rest. */
static bool fits_thread(struct lbr_stitcher *stitcher, const struct outcome *outcome,
			const struct sample *sample)
{
	return stitcher_rest_fits(stitcher, outcome->rest, sample->tid, sample->time_ns);
}

/* The sample's outcome, of one that holds if the rest fits. */
static void take_outcome(struct lbr_stitcher *stitcher, const struct outcome *outcome,
			 const struct sample *sample)
{
	stitcher->outcome = *outcome;
	if (!outcome->rest || fits_thread(stitcher, outcome, sample))
		return;
	stitcher->outcome.count -= (u16)rests_at(stitcher->rests, outcome->rest).count;
	stitcher->outcome.end = LBR_END_SEVERAL;
	stitcher->outcome.cut = lbr_cut_of(LBR_END_SEVERAL);
	stitcher->key ^= KEY_WITHOUT_REST;
}

/* Keeps the sample's outcome as it is if the rest fits. */
static void keep_outcome(struct lbr_stitcher *stitcher, const struct sample *sample)
{
	struct outcome outcome = stitcher->outcome;
	u64 key = stitcher->key;

	if (outcome.rest && !fits_thread(stitcher, &outcome, sample)) {
		const struct rest rest = rests_at(stitcher->rests, outcome.rest);

		outcome.count += (u16)rest.count;
		outcome.end = rest.end;
		outcome.cut = lbr_cut_of(rest.end);
		stitcher->key ^= KEY_WITHOUT_REST;
	}
	if (!stitcher->likely)
		outcomes_keep(stitcher->outcomes, sample->chain_key, key, &outcome);
}

static struct sample with_outcome(const struct lbr_stitcher *stitcher, const struct sample *sample)
{
	const struct outcome *outcome = &stitcher->outcome;
	struct sample changed = *sample;

	changed.chain_key = outcome->is_likely ? 0 : stitcher->key;
	changed.cut = outcome->cut;
	changed.walked = outcome->walked;
	return changed;
}

/* What is likely depends on the sample before. */
static bool knows_chain(struct event_sink *sink, const struct sample *sample)
{
	struct lbr_stitcher *stitcher = stitcher_of(sink);
	struct event_sink *next = stitcher->passing.next;
	const struct outcome *outcome;
	struct sample changed;

	if (!stitcher_is_concerned(stitcher, sample))
		return sink_call(next, knows_chain, sample);
	if (stitcher->is_learning || stitcher->likely)
		return false;
	stitcher->key = outcome_key(stitcher, sample);
	outcome = stitcher->key
			  ? outcomes_find(stitcher->outcomes, sample->chain_key, stitcher->key)
			  : NULL;
	if (!outcome)
		return false;
	take_outcome(stitcher, outcome, sample);
	changed = with_outcome(stitcher, sample);
	return sink_call(next, knows_chain, &changed);
}

/* What is handed on has another key, which is known as soon as the outcome has come. */
static int take_chain_ahead(struct event_sink *sink, u64 chain_key)
{
	struct lbr_stitcher *stitcher = stitcher_of(sink);
	u64 *ahead = &stitcher->ahead[stitcher->ahead_count++ % CHAINS_AHEAD];
	u64 key = *ahead ? outcomes_key(stitcher->outcomes, *ahead) : 0;

	*ahead = chain_key;
	outcomes_expect(stitcher->outcomes, chain_key);
	return key ? sink_call(stitcher->passing.next, on_chain_ahead, key) : 0;
}

/* Of a thread that is another one now, or may be. */
static void forget_variant(struct lbr_stitcher *stitcher)
{
	stitcher->variant_span = (struct time_span){1, 0};
}

/* The recording begins once more, behind what was learned of it. */
static void begin_again(struct lbr_stitcher *stitcher)
{
	process_table_free(stitcher->processes);
	stitcher->processes = process_table_new();
	places_set_processes(stitcher->places, stitcher->processes);
	threads_rewind(stitcher->threads);
	forget_variant(stitcher);
	if (stitcher->likely)
		likely_forget(stitcher->likely);
	stitcher->is_learning = false;
	stitcher->has_learned_all = true;
}

static void find_anew(struct lbr_stitcher *stitcher, const struct sample *sample)
{
	stitcher->key = outcome_key(stitcher, sample);
	stitcher_find(stitcher, sample);
	if (stitcher->outcome.rest == REST_NOT_KEPT)
		stitcher->key = 0;
	if (stitcher->key)
		keep_outcome(stitcher, sample);
}

static int take_sample(struct event_sink *sink, const struct sample *sample)
{
	struct lbr_stitcher *stitcher = stitcher_of(sink);
	struct sample changed;

	if (stitcher->is_learning)
		begin_again(stitcher);
	if (stitcher->unlearned && lbr_stitcher_lacks_lessons(stitcher->unlearned))
		return fail_plain(-EAGAIN, NULL, "there is something to learn first");
	stitcher->calls.count = 0;
	stitcher->shown.count = 0;
	if (!stitcher_is_concerned(stitcher, sample))
		return sink_call(stitcher->passing.next, on_sample, sample);
	if (!sample->is_known) /* else knows_chain() has done it */
		find_anew(stitcher, sample);
	lbr_tally_add(&stitcher->tally, &stitcher->outcome, stitcher->settings.tier == LBR_PLAIN);
	changed = with_outcome(stitcher, sample);
	changed.frames = stitcher->frames.items;
	changed.frame_count = sample->is_known ? 0 : (u16)stitcher->frames.count;
	return sink_call(stitcher->passing.next, on_sample, &changed);
}

/* --- the other events: the table of processes hears them first --- */

static void hear_mapping(struct lbr_stitcher *stitcher, const struct mapping *mapping)
{
	struct address_space *space = process_table_hold(stitcher->processes, mapping->pid);
	bool covers = !process_table_is_free_held(space, mapping->start, mapping->bytes);
	u64 before = places_generation(stitcher->places, mapping->pid);

	process_table_let_go(space); /* or it is copied */
	sink_call(process_table_sink(stitcher->processes), on_mapping, mapping);
	places_changed(stitcher->places);
	covers &= places_generation(stitcher->places, mapping->pid) != before;
	if (mapping->space == SPACE_USER)
		lineages_map(&stitcher->lessons_heard.lineages, mapping, covers);
}

static void hear_name(struct lbr_stitcher *stitcher, const struct thread_name *name)
{
	sink_call(process_table_sink(stitcher->processes), on_name, name);
	places_changed(stitcher->places);
	if (!name->is_exec)
		return;
	lineages_exec(&stitcher->lessons_heard.lineages, name->pid);
	threads_renew(stitcher->threads, name->tid);
	forget_variant(stitcher);
}

static void hear_fork(struct lbr_stitcher *stitcher, const struct thread_life *life)
{
	sink_call(process_table_sink(stitcher->processes), on_fork, life);
	places_changed(stitcher->places);
	lineages_fork(&stitcher->lessons_heard.lineages, life);
	threads_renew(stitcher->threads, life->tid);
	forget_variant(stitcher);
}

static void hear_exit(struct lbr_stitcher *stitcher, const struct thread_life *life)
{
	sink_call(process_table_sink(stitcher->processes), on_exit, life);
	places_changed(stitcher->places);
}

static struct lbr_stitcher *stitcher_of_follower(struct event_sink *sink)
{
	return (struct lbr_stitcher *)((char *)sink - offsetof(struct lbr_stitcher, following));
}

#define HEAR(member, type)                                                    \
	static int follow_##member(struct event_sink *sink, type event)       \
	{                                                                     \
		hear_##member(stitcher_of_follower(sink), event);             \
		return 0;                                                     \
	}                                                                     \
	static int learn_##member(struct event_sink *sink, type event)        \
	{                                                                     \
		hear_##member(stitcher_of_lessons(sink), event);              \
		stitcher_of_lessons(sink)->is_learning = true;                \
		return 0;                                                     \
	}                                                                     \
	static int take_##member(struct event_sink *sink, type event)         \
	{                                                                     \
		struct lbr_stitcher *stitcher = stitcher_of(sink);            \
                                                                              \
		if (stitcher->is_learning)                                    \
			begin_again(stitcher);                                \
		hear_##member(stitcher, event);                               \
		return sink_call(stitcher->passing.next, on_##member, event); \
	}

HEAR(mapping, const struct mapping *)
HEAR(name, const struct thread_name *)
HEAR(fork, const struct thread_life *)
HEAR(exit, const struct thread_life *)

/* Samples before the part. */
static size_t pass_all_chains(struct event_sink *sink, const struct chain_ahead *chains,
			      size_t count)
{
	struct lessons *lessons = &stitcher_of_follower(sink)->lessons_heard;

	for (size_t i = 0; i < count; i++)
		i += lessons_pass(lessons, chains + i, count - i);
	return count;
}

static int take_loss(struct event_sink *sink, const struct loss *loss)
{
	struct lbr_stitcher *stitcher = stitcher_of(sink);

	if (stitcher->likely)
		likely_forget(stitcher->likely);
	return sink_call(stitcher->passing.next, on_loss, loss);
}

/* --- the stitcher --- */

/* A stitcher that has no places, graph and threads yet. */
static struct lbr_stitcher *stitcher_make(const struct lbr_settings *settings,
					  struct event_sink *next)
{
	struct lbr_stitcher *stitcher = must_alloc_table(1, sizeof(*stitcher));
	struct event_sink *sink = &stitcher->passing.sink;

	passing_sink_init(&stitcher->passing, next);
	sink->on_sample = take_sample;
	sink->knows_chain = knows_chain;
	sink->on_chain_ahead = take_chain_ahead;
	sink->on_mapping = take_mapping;
	sink->on_name = take_name;
	sink->on_fork = take_fork;
	sink->on_exit = take_exit;
	sink->on_loss = take_loss;
	lessons_init(stitcher);
	stitcher->learning.on_mapping = learn_mapping;
	stitcher->learning.on_name = learn_name;
	stitcher->learning.on_fork = learn_fork;
	stitcher->learning.on_exit = learn_exit;
	stitcher->following = (struct event_sink){
		.on_mapping = follow_mapping,
		.on_name = follow_name,
		.on_fork = follow_fork,
		.on_exit = follow_exit,
	};
	stitcher->settings = *settings;
	stitcher->processes = process_table_new();
	stitcher->memo = memo_new(STACKS_MAX_BYTES);
	stitcher->rests = rests_new(RESTS_MAX_BYTES);
	stitcher->outcomes = outcomes_new();
	return stitcher;
}

struct lbr_stitcher *lbr_stitcher_new(const struct lbr_settings *settings, struct event_sink *next)
{
	struct lbr_stitcher *stitcher = stitcher_make(settings, next);

	stitcher->places = places_new(stitcher->processes, settings->symfs, settings->keeper);
	stitcher->graph = graph_new(stitcher->places);
	stitcher->threads = threads_new();
	if (settings->tier == LBR_LIKELY)
		stitcher->likely = likely_new();
	return stitcher;
}

struct lbr_stitcher *lbr_stitcher_for_part(struct lbr_stitcher *first)
{
	struct lbr_stitcher *stitcher = stitcher_make(&first->settings, NULL);

	stitcher->following.passes_chains = pass_all_chains;
	stitcher->places = places_for_part(first->places, stitcher->processes);
	stitcher->graph = graph_new(stitcher->places);
	stitcher->threads = threads_new();
	stitcher->sources = first->sources;
	stitcher->source_count = first->source_count;
	stitcher->lessons_heard.stride = first->lessons_heard.stride;
	return stitcher;
}

void lbr_stitcher_learn_from(struct lbr_stitcher *first, const struct lbr_stitcher *part)
{
	struct place_merge merge = places_merge(first->places, part->places);

	graph_add_all(first->graph, part->graph, &merge);
	threads_learn_all(first->threads, part->threads, &merge);
	place_merge_release(&merge);
	if (part->deepest > first->deepest)
		first->deepest = part->deepest;
}

struct lbr_stitcher *lbr_stitcher_beside(struct lbr_stitcher *learned, struct event_sink *next)
{
	struct lbr_stitcher *stitcher = stitcher_make(&learned->settings, next);

	graph_solve(learned->graph, stitcher_depth(learned));
	stitcher->places = places_beside(learned->places, stitcher->processes);
	stitcher->graph = graph_beside(learned->graph, stitcher->places);
	stitcher->threads = threads_beside(learned->threads);
	stitcher->sources = learned->sources;
	stitcher->source_count = learned->source_count;
	stitcher->deepest = learned->deepest;
	stitcher->has_learned_all = true;
	stitcher->unlearned = learned->is_learning ? NULL : learned;
	return stitcher;
}

void lbr_stitcher_prepare(struct lbr_stitcher *stitcher, const char *path,
			  const struct build_id *id)
{
	places_prepare_code(stitcher->places, path, id);
}

void lbr_stitcher_keep(struct lbr_stitcher *stitcher)
{
	places_keep_code(stitcher->places);
}

bool lbr_stitcher_lacks_lessons(const struct lbr_stitcher *learned)
{
	return !learned->is_learning &&
	       atomic_load_explicit(&learned->lacks_lessons, memory_order_relaxed);
}

void lbr_stitcher_free(struct lbr_stitcher *stitcher)
{
	if (!stitcher)
		return;
	lessons_release(&stitcher->lessons_heard);
	memo_free(stitcher->memo);
	rests_free(stitcher->rests);
	vec_release(&stitcher->packed);
	vec_release(&stitcher->bodies);
	outcomes_free(stitcher->outcomes);
	likely_free(stitcher->likely);
	graph_free(stitcher->graph);
	threads_free(stitcher->threads);
	places_free(stitcher->places);
	process_table_free(stitcher->processes);
	vec_release(&stitcher->frames);
	vec_release(&stitcher->calls);
	free(stitcher);
}

void lbr_stitcher_freep(struct lbr_stitcher **stitcher)
{
	lbr_stitcher_free(*stitcher);
}

void lbr_stitcher_set_sources(struct lbr_stitcher *stitcher, const struct event_source *sources,
			      size_t count)
{
	stitcher->sources = sources;
	stitcher->source_count = count;
}

struct event_sink *lbr_stitcher_sink(struct lbr_stitcher *stitcher)
{
	return &stitcher->passing.sink;
}

struct event_sink *lbr_stitcher_learning_sink(struct lbr_stitcher *stitcher)
{
	return &stitcher->learning;
}

struct event_sink *lbr_stitcher_follower(struct lbr_stitcher *stitcher)
{
	return &stitcher->following;
}

const struct lbr_tally *lbr_stitcher_tally(struct lbr_stitcher *stitcher)
{
	stitcher->tally.binaries_missing = places_missing(stitcher->places);
	return &stitcher->tally;
}

const u64 *lbr_stitcher_calls(struct lbr_stitcher *stitcher, size_t *ret_count)
{
	for (u32 i = 0; i < stitcher->shown.count; i++)
		*vec_add(&stitcher->calls) = memo_call(stitcher->shown.calls[i]);
	stitcher->shown.count = 0;
	*ret_count = stitcher->calls.count;
	return stitcher->calls.items;
}
