/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events of an indexed recording, one after the other into a sink.
 */
#include "perfdata/delivery.h"

#include <errno.h>
#include <xxhash.h>

/* Of a counter that threads inherit each has a value of its own under one id (Linux 6.12). */
static u64 counter_key(const struct decoder *decoder, const struct sample *sample, u64 id)
{
	const struct wire_attr *attr = &decoder->kinds.items[sample->source].attr;
	const u64 parts[] = {id, sample->tid};

	if (!(attr->sample_type & SAMPLE_TID) || !(attr->flags & ATTR_BIT(inherit)))
		return id;
	return XXH3_64bits(parts, sizeof(parts));
}

/* How far a counter has gone since the last sample that told it. One that went back began anew. */
static u64 counter_step(struct delivery *delivery, u64 key, u64 value)
{
	u32 *row = idmap_place(&delivery->value_of_id, key);
	u64 before;

	if (!*row) {
		*vec_add(&delivery->values) = 0;
		*row = (u32)delivery->values.count;
	}
	before = delivery->values.items[*row - 1];
	delivery->values.items[*row - 1] = value;
	return value >= before ? value - before : value;
}

/* A sample that carries counters (PERF_SAMPLE_READ) stands for what they counted since the last
 * one, each for its own event; this is how groups are sampled. */
static int hand_over_counters(struct delivery *delivery, const struct sample *sample)
{
	struct decoder *decoder = delivery->decoder;
	int error = 0;

	for (size_t i = 0; i < decoder->counters.count && !error; i++) {
		struct counter_value counter = decoder->counters.items[i];
		struct sample of_counter = *sample;
		u32 row;

		if (!counter.id)
			counter.id = decoder->sample_id;
		row = idmap_get(&decoder->kind_of_id, counter.id);
		if (row)
			of_counter.source = row - 1;
		of_counter.weight = counter_step(
			delivery, counter_key(decoder, &of_counter, counter.id), counter.value);
		if (of_counter.weight)
			error = sink_call(delivery->sink, on_sample, &of_counter);
	}
	return error;
}

static int hand_over_sample(struct delivery *delivery, struct bytes record, u64 chain_key)
{
	struct decoder *decoder = delivery->decoder;
	struct sample sample;
	int error;

	decoder->chain_key = chain_key;
	error = decode_sample(decoder, record, &sample);
	if (error == -ENOENT) {
		delivery->tally.unknown_ids++;
		return 0;
	}
	if (error) {
		delivery->tally.malformed++;
		return 0;
	}
	delivery->tally.samples += sample_count(&sample);
	if (decoder->counters.count)
		return hand_over_counters(delivery, &sample);
	return sink_call(delivery->sink, on_sample, &sample);
}

int delivery_event(struct delivery *delivery, const struct timed *event)
{
	const u8 *at = delivery_record(event);
	struct record_header header = decode_header(delivery->decoder, at);
	struct bytes record = {at, header.size_bytes};
	int error;

	if (header.type == RECORD_SAMPLE)
		return hand_over_sample(delivery, record, event->extra);
	error = decode_record(delivery->decoder, record, delivery->sink);
	if (error != -EILSEQ)
		return error;
	delivery->tally.malformed++;
	return 0;
}

/* What will be needed soon comes from memory while other things are done. */
static void prepare(struct delivery *delivery, const struct timed *event)
{
	enum { LINE_BYTES = 64 };
	const u8 *record = delivery_record(event);

	__builtin_prefetch(record);
	__builtin_prefetch(record + LINE_BYTES);
	if (event->extra > EXTRA_NO_SAMPLE)
		sink_call(delivery->sink, on_chain_ahead, event->extra);
}

/* What a listener is told of, with what it means in between. */
static int hand_over_listed(struct delivery *delivery, size_t index)
{
	struct perfdata *data = delivery->data;
	struct perfdata_listener *listener = data->listener;
	struct perfdata_record record = session_listed_record(data, index);
	struct timed event = {.place = (uintptr_t)record.bytes.start};
	int error = listener->before ? listener->before(listener, &record) : 0;

	if (!error && decode_knows(record.type))
		error = delivery_event(delivery, &event);
	if (!error && listener->after)
		error = listener->after(listener, &record);
	return error;
}

static int hand_over_list(struct delivery *delivery)
{
	struct perfdata *data = delivery->data;
	int error = 0;

	if (data->listed_order == ORDER_DELIVERED && !data->is_ordered)
		session_order_listed(data);
	data->is_ordered |= data->listed_order == ORDER_DELIVERED;
	for (size_t i = 0; i < data->listed.count && !error; i++)
		error = hand_over_listed(delivery, i);
	return error;
}

size_t delivery_passed(struct event_sink *sink, const struct timed *events, size_t count)
{
	enum { ASKED_AT_ONCE = 64 };
	struct chain_ahead chains[ASKED_AT_ONCE];
	size_t passed = 0, most, asked, at_once;

	do {
		most = count - passed < ASKED_AT_ONCE ? count - passed : ASKED_AT_ONCE;
		for (asked = 0; asked < most; asked++) {
			const struct timed *event = &events[passed + asked];

			if (event->extra <= EXTRA_NO_SAMPLE)
				break;
			chains[asked] = (struct chain_ahead){event->extra, event->time_ns,
							     (u32)(event->who >> 32),
							     (u32)event->who};
		}
		at_once = asked ? sink->passes_chains(sink, chains, asked) : 0;
		passed += at_once;
	} while (asked && at_once == asked);
	return passed;
}

/* To who picks samples. */
static int hand_over_picked(struct delivery *delivery, struct window *window, size_t from,
			    size_t to)
{
	const struct timed *events = delivery->data->events.items;
	size_t i = from;
	int error = 0;

	while (!error && (i += delivery_passed(delivery->sink, &events[i], to - i)) < to) {
		struct timed near = events[i];
		const u8 *record = delivery_record(&near);
		const u8 *next = ++i < to ? delivery_record(&events[i]) : record;

		near.place = (uintptr_t)delivery_near_record(delivery, &near, next);
		if (delivery_record(&near) == record)
			window_move(window, record);
		error = delivery_event(delivery, &near);
	}
	return error;
}

/* `last`: of the part. */
static int hand_over(struct delivery *delivery, struct window *window, size_t from, size_t to,
		     size_t last)
{
	enum { AHEAD = 12 }; /* records that are on their way from memory */
	const struct timed *events = delivery->data->events.items;
	int error = 0;

	for (size_t i = from; i < to && !error; i++) {
		if (i + AHEAD < last)
			prepare(delivery, &events[i + AHEAD]);
		window_move(window, delivery_record(&events[i]));
		error = delivery_event(delivery, &events[i]);
	}
	return error;
}

/* Of an index that is read for the last time, gives back what lies behind. Moves `from`, up to
 * where that was done. */
static void forget_events(struct perfdata *data, size_t *from, size_t to)
{
	enum { FORGOTTEN_AT_ONCE = 1 << 15 };
	const struct timed *events = data->events.items;

	if (to - *from < FORGOTTEN_AT_ONCE || !data->is_read_once ||
	    atomic_load(&data->parts_to_begin))
		return;
	memory_forget(&events[*from], (to - *from) * sizeof(*events));
	*from = to;
}

int delivery_events(struct delivery *delivery, size_t from, size_t to)
{
	struct window window = delivery_window(delivery->data, from);
	bool picks = delivery->sink->passes_chains;
	size_t forgotten = from, end;
	int error = 0;

	delivery->decoder->reader = delivery->sink;
	for (size_t i = from; i < to && !error; i = end) {
		end = to - i < PROGRESS_EVENTS ? to : i + PROGRESS_EVENTS;
		error = picks ? hand_over_picked(delivery, &window, i, end)
			      : hand_over(delivery, &window, i, end, to);
		forget_events(delivery->data, &forgotten, end);
		if (delivery->on_progress && !error)
			delivery->on_progress(delivery, end - from);
	}
	delivery->decoder->reader = NULL;
	return error;
}

static void show_progress(struct delivery *delivery, size_t done)
{
	delivery->data->show_progress("reading", done, delivery->data->events.count);
}

static int hand_over_all(struct delivery *delivery)
{
	struct perfdata *data = delivery->data;
	int error = data->listener ? hand_over_list(delivery)
				   : delivery_events(delivery, 0, data->events.count);

	return error ? error : delivery_end(data, delivery->sink);
}

void delivery_release(struct delivery *delivery)
{
	idmap_release(&delivery->value_of_id);
	vec_release(&delivery->values);
	free(delivery->far.bytes);
}

void perfdata_skip_chains(struct perfdata *data)
{
	data->decoder.skips_chains = true;
}

void perfdata_read_once(struct perfdata *data)
{
	data->is_read_once = true;
}

void delivery_forget(struct perfdata *data)
{
	if (!data->is_read_once)
		return;
	vec_release(&data->events);
	if (data->input.is_mapped)
		file_forget(data->records);
}

int perfdata_read(struct perfdata *data, struct event_sink *sink)
{
	struct delivery delivery = {
		.data = data,
		.decoder = &data->decoder,
		.sink = sink,
		.on_progress = data->show_progress ? show_progress : NULL,
	};
	int error;

	session_index(data);
	error = hand_over_all(&delivery);
	delivery_release(&delivery);
	delivery_forget(data);
	return error ? error : delivery_say_damage(data, &delivery.tally);
}
