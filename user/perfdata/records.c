/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The list of all records, and the order in which perf would hand them on.
 *
 * perf sorts what carries a time between two FINISHED_ROUND records: at the end of a round it hands
 * on what is not newer than the newest it had seen when the round before ended. All else it takes
 * at once, where it stands.
 */
#include "perfdata/records.h"

#include "perfdata/attr.h"
#include "perfdata/session.h"

#include <stdlib.h>

/* Where a record stands in the order. */
struct place {
	u64 round;	   /* that hands it on */
	bool stands_still; /* taken at once, behind what the round hands on */
	u64 time_ns;
	struct listed_record record;
};

void session_list(struct perfdata *data, struct record_header header, const u8 *at, bool is_nested)
{
	const u8 *start = data->header.is_pipe ? data->records.start : data->input.bytes.start;

	if (!is_nested)
		data->block_offset = (u64)(at - start);
	*vec_add(&data->listed) = (struct listed_record){
		.at = at,
		.offset = data->block_offset,
		.type = header.type,
		.round = data->rounds,
		.has_events = data->decoder.kinds.count,
	};
	data->rounds += header.type == RECORD_FINISHED_ROUND;
}

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->round != b->round)
		return a->round < b->round ? -1 : 1;
	if (a->stands_still != b->stands_still)
		return a->stands_still ? 1 : -1;
	if (!a->stands_still && a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	/* Equal ones keep the order of the list, whose offsets need not ascend. */
	return a->record.sequence < b->record.sequence ? -1 : 1;
}

/* newest[r]: of all times in front of the end of round r, counted from 0. */
static u64 *newest_by_round(const struct perfdata *data, const struct place *places)
{
	u64 *newest = must_alloc((data->rounds + 1) * sizeof(*newest));
	u64 round = 0;

	for (size_t i = 0; i < data->listed.count; i++) {
		for (; round < data->listed.items[i].round; round++)
			newest[round + 1] = newest[round];
		if (!places[i].stands_still && places[i].time_ns > newest[round])
			newest[round] = places[i].time_ns;
	}
	return newest;
}

/* The round that hands a record on: the first, after its own, whose limit it is not above. */
static u64 round_of(const u64 *newest, u64 rounds, const struct place *place)
{
	u64 round = place->round + 1;

	/* Round r ends with what was the newest when the one before it did. */
	while (round <= rounds && (round < 2 || newest[round - 2] < place->time_ns))
		round++;
	return round;
}

void session_order_listed(struct perfdata *data)
{
	size_t count = data->listed.count;
	struct place *places = must_resize_array(NULL, count + 1, sizeof(*places));
	u64 *newest;

	for (size_t i = 0; i < count; i++) {
		const struct listed_record *record = &data->listed.items[i];
		struct record_header header = decode_header(&data->decoder, record->at);

		places[i] = (struct place){
			.round = record->round,
			.time_ns = decode_time(&data->decoder, header, record->at),
			.record = *record,
		};
		places[i].record.sequence = i;
		places[i].stands_still = !places[i].time_ns;
	}
	newest = newest_by_round(data, places);
	for (size_t i = 0; i < count; i++)
		if (!places[i].stands_still)
			places[i].round = round_of(newest, data->rounds, &places[i]);
	qsort(places, count, sizeof(*places), compare_places);
	for (size_t i = 0; i < count; i++)
		data->listed.items[i] = places[i].record;
	free(newest);
	free(places);
}

/* --- one record --- */

/* The members that all records but samples may end with, last to first. */
static void read_trailer(const struct perfdata *data, struct perfdata_record *record)
{
	const struct event_kind *kind = &data->decoder.kinds.items[record->source];
	u64 type = kind->attr.sample_type;
	struct cursor cursor;

	if (!kind->trailer_bytes || record->bytes.length < 8u + kind->trailer_bytes)
		return;
	cursor = cursor_of(
		(struct bytes){record->bytes.start + record->bytes.length - kind->trailer_bytes,
			       kind->trailer_bytes});
	cursor.swap = data->decoder.swap;
	if (type & SAMPLE_TID) {
		record->pid = cursor_u32(&cursor);
		record->tid = cursor_u32(&cursor);
	}
	if (type & SAMPLE_TIME)
		record->time_ns = cursor_u64(&cursor);
	if (type & SAMPLE_ID)
		record->id = cursor_u64(&cursor);
	if (type & SAMPLE_STREAM_ID)
		cursor_u64(&cursor);
	if (type & SAMPLE_CPU) {
		record->cpu = cursor_u32(&cursor);
		cursor_u32(&cursor);
	}
	if (type & SAMPLE_IDENTIFIER)
		record->id = cursor_u64(&cursor);
}

static void read_sample(struct perfdata *data, struct perfdata_record *record)
{
	struct sample sample = {.record = record->bytes.start};

	if (!session_look_again(data, &sample))
		return;
	record->source = sample.source;
	record->pid = sample.pid;
	record->tid = sample.tid;
	record->cpu = sample.cpu;
	record->time_ns = sample.time_ns;
	record->id = data->second_look.details.id;
}

struct perfdata_record session_listed_record(struct perfdata *data, size_t index)
{
	const struct listed_record *listed = &data->listed.items[index];
	struct record_header header = decode_header(&data->decoder, listed->at);
	struct perfdata_record record = {
		.bytes = {listed->at, header.size_bytes},
		.offset = listed->offset,
		.type = header.type,
		.misc = header.misc,
		.has_events = listed->has_events,
		.source = ~0u,
		.pid = ~0u,
		.tid = ~0u,
		.cpu = ~0u,
	};

	if (header.type >= RECORD_USER_FIRST || !data->decoder.kinds.count)
		return record;
	if (header.type == RECORD_SAMPLE) {
		read_sample(data, &record);
		return record;
	}
	record.source = decode_source(&data->decoder, header, listed->at);
	read_trailer(data, &record);
	return record;
}

u32 perfdata_record_thread(const struct perfdata *data, const struct perfdata_record *record)
{
	enum { SECOND_WORD = 4, THIRD_WORD = 8 };
	struct cursor body = cursor_of(record->bytes);
	u32 type = record->type;
	bool is_life = type == RECORD_FORK || type == RECORD_EXIT;

	if (!is_life && type != RECORD_MMAP && type != RECORD_MMAP2 && type != RECORD_COMM &&
	    type != RECORD_NAMESPACES)
		return record->tid;
	body.swap = data->decoder.swap;
	cursor_take(&body, sizeof(struct record_header) + (is_life ? THIRD_WORD : SECOND_WORD));
	return cursor_u32(&body);
}

bool perfdata_read_counter(const struct perfdata *data, const struct perfdata_record *record,
			   struct counter_reading *ret_reading)
{
	struct cursor body = cursor_of(record->bytes);

	if (record->type != RECORD_READ || record->source >= data->decoder.kinds.count)
		return false;
	body.swap = data->decoder.swap;
	cursor_take(&body, sizeof(struct record_header));
	ret_reading->pid = cursor_u32(&body);
	ret_reading->tid = cursor_u32(&body);
	ret_reading->value = cursor_u64(&body);
	ret_reading->source = record->source;
	return !body.overrun;
}

u64 perfdata_read_lost_samples(const struct perfdata *data, const struct perfdata_record *record)
{
	struct cursor body = cursor_of(record->bytes);
	u64 lost;

	body.swap = data->decoder.swap;
	cursor_take(&body, sizeof(struct record_header));
	lost = cursor_u64(&body);
	return record->type == RECORD_LOST_SAMPLES && !body.overrun ? lost : 0;
}

void perfdata_listen(struct perfdata *data, struct perfdata_listener *listener,
		     enum perfdata_order order)
{
	data->listener = listener;
	data->listed_order = order;
}
