/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events of an indexed recording, one after the other into a sink.
 */
#include "base/fail.h"
#include "bpfprof/counters.h"
#include "perfdata/reader.h"
#include "perfdata/session.h"

#include <errno.h>

/* What one delivery remembers from sample to sample. */
struct delivery {
	struct perfdata *data;
	struct event_sink *sink;
	struct idmap value_of_id; /* counter id: row of values + 1 */
	VEC(u64) values;	  /* as the last sample told them */
};

static const u8 *record_of(const struct timed *event)
{
	return (const u8 *)(uintptr_t)event->place;
}

/* How far a counter has gone since the last sample that told it. */
static u64 counter_step(struct delivery *delivery, struct counter_value counter)
{
	u32 *row = idmap_place(&delivery->value_of_id, counter.id);
	u64 before;

	if (!*row) {
		*vec_add(&delivery->values) = 0;
		*row = (u32)delivery->values.count;
	}
	before = delivery->values.items[*row - 1];
	delivery->values.items[*row - 1] = counter.value;
	return counter.value - before;
}

/* A sample that carries counters (PERF_SAMPLE_READ) stands for what they counted since the last
 * one, each for its own event; this is how groups are sampled. */
static int hand_over_counters(struct delivery *delivery, const struct sample *sample)
{
	struct decoder *decoder = &delivery->data->decoder;
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
		of_counter.weight = counter_step(delivery, counter);
		if (of_counter.weight)
			error = sink_call(delivery->sink, on_sample, &of_counter);
	}
	return error;
}

static int hand_over_sample(struct delivery *delivery, struct bytes record, u64 chain_key)
{
	struct perfdata *data = delivery->data;
	struct sample sample;
	int error;

	data->decoder.chain_key = chain_key;
	error = decode_sample(&data->decoder, record, &sample);

	if (error == -ENOENT) {
		data->unknown_id_count++;
		return 0;
	}
	if (error) {
		data->malformed_count++;
		return 0;
	}
	data->sample_count += sample_count(&sample);
	if (data->decoder.counters.count)
		return hand_over_counters(delivery, &sample);
	return sink_call(delivery->sink, on_sample, &sample);
}

static int hand_over(struct delivery *delivery, const struct timed *event)
{
	struct perfdata *data = delivery->data;
	const u8 *at = record_of(event);
	struct record_header header = decode_header(&data->decoder, at);
	struct bytes record = {at, header.size_bytes};
	int error;

	if (header.type == RECORD_SAMPLE)
		return hand_over_sample(delivery, record, event->extra);
	error = decode_record(&data->decoder, record, delivery->sink);
	if (error != -EILSEQ)
		return error;
	data->malformed_count++;
	return 0;
}

/* Our own files tell by reason what was lost. */
static int hand_over_losses(struct delivery *delivery)
{
	const struct perfdata_extra *extra = perfdata_extra(delivery->data);
	int error = 0;

	for (u32 reason = 0; extra && reason < COUNTER_COUNT && !error; reason++) {
		struct loss loss = {
			.count = extra->losses[reason], .reason = reason, .source = ~0u};

		if (loss.count)
			error = sink_call(delivery->sink, on_loss, &loss);
	}
	return error;
}

/* What will be needed soon comes from memory while other things are done. */
static void prepare(struct delivery *delivery, const struct timed *event)
{
	enum { LINE_BYTES = 64 };
	const u8 *record = record_of(event);

	__builtin_prefetch(record);
	__builtin_prefetch(record + LINE_BYTES);
	if (event->extra)
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
		error = hand_over(delivery, &event);
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

static int hand_over_events(struct delivery *delivery)
{
	enum { AHEAD = 12 }; /* records that are on their way from memory */
	struct perfdata *data = delivery->data;
	const struct timed *events = data->events.items;
	struct window window = {.mapped = data->input.is_mapped ? data->records
								: (struct bytes){0}};
	int error = 0;

	data->decoder.reader = delivery->sink;
	for (size_t i = 0; i < data->events.count && !error; i++) {
		if (i + AHEAD < data->events.count)
			prepare(delivery, &events[i + AHEAD]);
		window_move(&window, record_of(&events[i]));
		error = hand_over(delivery, &events[i]);
		if (data->show_progress)
			data->show_progress("reading", i + 1, data->events.count);
	}
	data->decoder.reader = NULL;
	return error;
}

static int hand_over_all(struct delivery *delivery)
{
	int error = delivery->data->listener ? hand_over_list(delivery)
					     : hand_over_events(delivery);

	if (!error)
		error = hand_over_losses(delivery);
	if (!error)
		error = sink_call(delivery->sink, on_end);
	return error;
}

static int say_damage(struct perfdata *data)
{
	unsigned long long samples = data->sample_count;

	if (data->unknown_id_count)
		session_warn(
			data,
			"%llu samples of events that the file does not describe were passed over",
			(unsigned long long)data->unknown_id_count);
	if (data->damage.what)
		return fail_plain(-EBADMSG, NULL, "%s is %s; %llu samples before that are shown",
				  data->path, data->damage.what, samples);
	if (data->malformed_count)
		return fail_plain(
			-EBADMSG, NULL,
			"%s is damaged: %llu records make no sense; %llu samples are shown",
			data->path, (unsigned long long)data->malformed_count, samples);
	if (data->is_unterminated)
		return fail_plain(
			-EBADMSG, NULL,
			"%s was not ended by its recorder; the %llu samples in it are shown",
			data->path, samples);
	return 0;
}

int perfdata_read(struct perfdata *data, struct event_sink *sink)
{
	struct delivery delivery = {.data = data, .sink = sink};
	int error;

	session_index(data);
	data->sample_count = data->malformed_count = data->unknown_id_count = 0;
	error = hand_over_all(&delivery);
	idmap_release(&delivery.value_of_id);
	vec_release(&delivery.values);
	return error ? error : say_damage(data);
}
