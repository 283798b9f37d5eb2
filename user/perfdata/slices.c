/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parts of the index, each handed over by a thread of its own. What a part needs of those before
 * it are the events that are no samples, which are few: it hears them first.
 */
#include "perfdata/slices.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "perfdata/delivery.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
	LEAST_EVENTS = 1 << 14, /* of a part: less is not worth the tables it needs */
};

/* One part while it is read. */
struct part {
	const struct perfdata_slice *slice;
	size_t from, to; /* of the index */
	struct decoder decoder;
	struct delivery delivery;
	int error;
	char *sentence; /* owned; a thread's last one is its own */
};

struct parts {
	struct perfdata *data;
	struct part *items;
	pthread_t caller; /* shows how far it is */
	atomic_size_t done;
};

/* Whether each sample says all there is to it. Counters of samples tell only their sums so far. */
static bool stand_alone(const struct perfdata *data)
{
	for (size_t i = 0; i < data->decoder.kinds.count; i++)
		if (data->decoder.kinds.items[i].attr.sample_type & SAMPLE_READ)
			return false;
	return !data->listener;
}

u32 perfdata_slices(struct perfdata *data, u32 most)
{
	size_t count;

	session_index(data);
	if (!stand_alone(data))
		return 1;
	count = (data->events.count + data->bystanders.skipped) / LEAST_EVENTS;
	if (count > most)
		count = most;
	return count ? (u32)count : 1;
}

/* Keys of chains that were seen, a bit each: a few are taken for others. */
struct seen_keys {
	u64 words[1 << 14];
};

static u64 *word_of(struct seen_keys *seen, u64 key, u64 *ret_bit)
{
	*ret_bit = 1ULL << (key >> 1) % 64; /* the lowest bit of a key is none of its hash */
	return &seen->words[(key >> 7) % ARRAY_COUNT(seen->words)];
}

static void see_keys(const struct timed *events, size_t count, struct seen_keys *seen)
{
	u64 bit;

	for (size_t i = 0; i < count; i++)
		if (events[i].extra > EXTRA_NO_SAMPLE)
			*word_of(seen, events[i].extra, &bit) |= bit;
}

bool perfdata_repeats(struct perfdata *data)
{
	enum { SEEN_MAX = 1 << 17, ASKED = 1 << 12, FEW = 16 /* one in so many */ };
	CLEANUP(freep) struct seen_keys *seen = must_alloc(sizeof(*seen));
	size_t half, seen_count, step, asked = 0, unseen = 0;
	const struct timed *events;
	u64 bit;

	session_index(data);
	events = data->events.items;
	half = data->events.count / 2;
	seen_count = half < SEEN_MAX ? half : SEEN_MAX;
	step = half / ASKED + 1;
	see_keys(events + half - seen_count, seen_count, seen);
	for (size_t i = half; i < data->events.count; i += step) {
		if (events[i].extra <= EXTRA_NO_SAMPLE)
			continue;
		asked++;
		unseen += !(*word_of(seen, events[i].extra, &bit) & bit);
	}
	return asked && unseen * FEW < asked;
}

/* What a decoder fills is its own, what it looks up is all of theirs. */
static struct decoder decoder_beside(const struct decoder *decoder)
{
	return (struct decoder){
		.kinds = {.items = decoder->kinds.items, .count = decoder->kinds.count},
		.kind_of_id = decoder->kind_of_id,
		.swap = decoder->swap,
		.is_ours = decoder->is_ours,
		.skips_chains = decoder->skips_chains,
		.lost_is_counted = decoder->lost_is_counted,
		.build_id_paths = decoder->build_id_paths,
		.build_ids = {.items = decoder->build_ids.items, .count = decoder->build_ids.count},
	};
}

/* Says that a sample's chain was in front of the part. */
static void pass_over_chain(struct event_sink *sink, const struct timed *event,
			    const struct timed *last)
{
	enum { AHEAD = 12 };

	if (!sink->wants_chain)
		return;
	if (last - event > AHEAD && event[AHEAD].extra > EXTRA_NO_SAMPLE)
		sink_call(sink, on_chain_ahead, event[AHEAD].extra);
	if (event->extra > EXTRA_NO_SAMPLE)
		sink->wants_chain(sink, event->extra);
}

/* The parts before forget what they have read; what is looked at here may be far ahead of them. */
static int hand_over_before(struct part *part)
{
	const struct timed *events = part->delivery.data->events.items;
	struct window window = delivery_window(part->delivery.data, 0);
	struct delivery before = part->delivery; /* what makes no sense counts where it stands */
	int error = 0;

	before.sink = part->slice->before;
	for (size_t i = 0; i < part->from && !error; i++) {
		pass_over_chain(before.sink, &events[i], &events[part->to - 1]);
		if (events[i].extra != EXTRA_NO_SAMPLE)
			continue;
		window_move(&window, delivery_record(&events[i]));
		error = delivery_event(&before, &events[i]);
	}
	return error;
}

static void read_part(void *context, size_t index)
{
	struct parts *parts = context;
	struct part *part = &parts->items[index];

	part->error = hand_over_before(part);
	atomic_fetch_sub(&parts->data->parts_to_begin, 1);
	if (!part->error)
		part->error = delivery_events(&part->delivery, part->from, part->to);
	if (part->error)
		part->sentence = must_copy(fail_sentence());
}

/* Tells how far all of them are, every so many events. */
static void show_progress(struct delivery *delivery, size_t done)
{
	enum { EVERY = 256 };
	struct parts *parts = delivery->context;
	size_t all;

	if (done % EVERY)
		return;
	all = atomic_fetch_add(&parts->done, EVERY) + EVERY;
	if (pthread_equal(pthread_self(), parts->caller))
		parts->data->show_progress("reading", all, parts->data->events.count);
}

static struct parts parts_make(struct perfdata *data, const struct perfdata_slice *slices,
			       u32 count)
{
	struct parts parts = {
		.data = data,
		.items = must_alloc_array(count, sizeof(*parts.items)),
		.caller = pthread_self(),
	};

	for (u32 i = 0; i < count; i++) {
		struct part *part = &parts.items[i];

		*part = (struct part){
			.slice = &slices[i],
			.from = data->events.count * i / count,
			.to = data->events.count * (i + 1) / count,
			.decoder = decoder_beside(&data->decoder),
		};
		part->delivery = (struct delivery){
			.data = data, .decoder = &part->decoder, .sink = slices[i].sink};
	}
	return parts;
}

/* Sums up what came of the records. Returns the first error, with its sentence. */
static int parts_end(struct parts *parts, u32 count, struct delivery_tally *ret_tally)
{
	int error = 0;

	*ret_tally = (struct delivery_tally){0};
	for (u32 i = 0; i < count; i++) {
		struct part *part = &parts->items[i];

		ret_tally->samples += part->delivery.tally.samples;
		ret_tally->malformed += part->delivery.tally.malformed;
		ret_tally->unknown_ids += part->delivery.tally.unknown_ids;
		if (part->error && !error)
			error = fail_plain(part->error, NULL, "%s", part->sentence);
		free(part->sentence);
		decoder_release_sample(&part->decoder);
		delivery_release(&part->delivery);
	}
	free(parts->items);
	return error;
}

int perfdata_read_slices(struct perfdata *data, const struct perfdata_slice *slices, u32 count)
{
	struct delivery_tally tally;
	struct parts parts;
	int error;

	session_index(data);
	parts = parts_make(data, slices, count);
	for (u32 i = 0; data->show_progress && i < count; i++) {
		parts.items[i].delivery.context = &parts;
		parts.items[i].delivery.on_progress = show_progress;
	}
	atomic_store(&data->parts_to_begin, count);
	parallel_run(count, read_part, &parts);
	error = parts_end(&parts, count, &tally);
	delivery_forget(data);
	for (u32 i = 0; i + 1 < count && !error; i++)
		error = sink_call(slices[i].sink, on_end);
	if (!error)
		error = delivery_end(data, slices[count - 1].sink);
	return error ? error : delivery_say_damage(data, &tally);
}
