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

/* Who reads, and how far that is. */
struct perfdata_part {
	struct perfdata *data;
	const struct perfdata_slice *slice;
	struct decoder decoder;
	struct delivery delivery;
	struct window window; /* over what is looked at without being read */
	size_t at;	      /* in the index: all before it was heard */
};

/* One slice while it is read. */
struct piece {
	struct perfdata_part *part;
	size_t from, to; /* of the index */
	int error;
	char *sentence; /* owned; a thread's last one is its own */
};

struct pieces {
	struct perfdata *data;
	struct piece *items;
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
		.deferred = decoder->deferred,
	};
}

struct perfdata_part *perfdata_part_new(struct perfdata *data, const struct perfdata_slice *slice)
{
	struct perfdata_part *part = must_alloc(sizeof(*part));

	session_index(data);
	part->data = data;
	part->slice = slice;
	part->decoder = decoder_beside(&data->decoder);
	part->delivery = (struct delivery){
		.data = data, .decoder = &part->decoder, .sink = slice->sink};
	part->window = delivery_window(data, 0);
	return part;
}

size_t perfdata_event_count(struct perfdata *data)
{
	session_index(data);
	return data->events.count;
}

/* The parts before forget what they have read; what is looked at here may be far ahead of them. */
static int hear_before(struct perfdata_part *part, size_t from)
{
	const struct timed *events = part->data->events.items;
	struct delivery before = part->delivery; /* what makes no sense counts where it stands */
	size_t at = part->at;
	int error = 0;

	before.sink = part->slice->before;
	while (at < from && !error) {
		const struct timed *event = &events[at];

		if (event->extra == EXTRA_NO_SAMPLE) {
			window_move(&part->window, delivery_record(event));
			error = delivery_event(&before, event);
			at++;
		} else if (event->extra > EXTRA_NO_SAMPLE && before.sink->passes_chains) {
			at += delivery_passed(before.sink, event, from - at);
		} else {
			at++;
		}
	}
	part->at = at;
	return error;
}

int perfdata_part_read(struct perfdata_part *part, size_t from, size_t to)
{
	int error = hear_before(part, from);

	if (!error)
		error = delivery_events(&part->delivery, from, to);
	part->at = to;
	if (to > from)
		window_move(&part->window, delivery_record(&part->data->events.items[to - 1]));
	return error;
}

void perfdata_tell_progress(struct perfdata *data, size_t done)
{
	if (data->show_progress)
		data->show_progress("reading", done, data->events.count);
}

static void part_free(struct perfdata_part *part)
{
	decoder_release_sample(&part->decoder);
	delivery_release(&part->delivery);
	free(part);
}

int perfdata_parts_end(struct perfdata *data, struct perfdata_part *const *parts, u32 count,
		       int error)
{
	struct delivery_tally tally = {0};

	for (u32 i = 0; i < count; i++) {
		tally.samples += parts[i]->delivery.tally.samples;
		tally.malformed += parts[i]->delivery.tally.malformed;
		tally.unknown_ids += parts[i]->delivery.tally.unknown_ids;
	}
	delivery_forget(data);
	for (u32 i = 0; i + 1 < count && !error; i++)
		error = sink_call(parts[i]->slice->sink, on_end);
	if (!error)
		error = delivery_end(data, parts[count - 1]->slice->sink);
	for (u32 i = 0; i < count; i++)
		part_free(parts[i]);
	return error ? error : delivery_say_damage(data, &tally);
}

/* --- slices --- */

static void read_piece(void *context, size_t index)
{
	struct pieces *pieces = context;
	struct piece *piece = &pieces->items[index];
	struct perfdata_part *part = piece->part;

	piece->error = hear_before(part, piece->from);
	atomic_fetch_sub(&pieces->data->parts_to_begin, 1);
	if (!piece->error)
		piece->error = delivery_events(&part->delivery, piece->from, piece->to);
	if (piece->error)
		piece->sentence = must_copy(fail_sentence());
}

/* Tells how far all of them are, of which each tells how far it is. */
static void show_progress(struct delivery *delivery, size_t done)
{
	struct pieces *pieces = delivery->context;
	size_t more = done % PROGRESS_EVENTS ? done % PROGRESS_EVENTS : PROGRESS_EVENTS;
	size_t all = atomic_fetch_add(&pieces->done, more) + more;

	if (pthread_equal(pthread_self(), pieces->caller))
		perfdata_tell_progress(pieces->data, all);
}

static struct pieces pieces_make(struct perfdata *data, const struct perfdata_slice *slices,
				 u32 count)
{
	struct pieces pieces = {
		.data = data,
		.items = must_alloc_array(count, sizeof(*pieces.items)),
		.caller = pthread_self(),
	};

	for (u32 i = 0; i < count; i++)
		pieces.items[i] = (struct piece){
			.part = perfdata_part_new(data, &slices[i]),
			.from = data->events.count * i / count,
			.to = data->events.count * (i + 1) / count,
		};
	return pieces;
}

/* Ends all parts; the first error holds, with its sentence. */
static int pieces_end(struct pieces *pieces, u32 count)
{
	struct perfdata_part **parts = must_alloc_array(count, sizeof(struct perfdata_part *));
	int error = 0;

	for (u32 i = 0; i < count; i++) {
		struct piece *piece = &pieces->items[i];

		parts[i] = piece->part;
		if (piece->error && !error)
			error = fail_plain(piece->error, NULL, "%s", piece->sentence);
		free(piece->sentence);
	}
	error = perfdata_parts_end(pieces->data, parts, count, error);
	free(pieces->items);
	free(parts);
	return error;
}

int perfdata_read_slices(struct perfdata *data, const struct perfdata_slice *slices, u32 count)
{
	struct pieces pieces;

	session_index(data);
	pieces = pieces_make(data, slices, count);
	for (u32 i = 0; data->show_progress && i < count; i++) {
		struct delivery *delivery = &pieces.items[i].part->delivery;

		delivery->context = &pieces;
		delivery->on_progress = show_progress;
	}
	atomic_store(&data->parts_to_begin, count);
	parallel_run(count, read_piece, &pieces);
	return pieces_end(&pieces, count);
}
