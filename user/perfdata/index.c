/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One walk over the record stream: where each event lies and when it happened. What describes the
 * stream itself (attributes and features of a pipe, compressed blocks, our notes) is taken in on
 * the way.
 */
#include "perfdata/session.h"

#include "bpfprof/counters.h"
#include "perfdata/attr.h"
#include "perfdata/chain_key.h"

#include <errno.h>

/* A record that is not an event; `body` is what follows its header. */
typedef void note_record(struct perfdata *data, struct record_header header, struct cursor body);

static void take_attr(struct perfdata *data, struct record_header header, struct cursor body)
{
	struct wire_attr attr;
	VEC(u64) ids = {0};

	(void)header;
	if (!data->header.is_pipe)
		return; /* perf lists them in the file's header too */
	if (attr_read(&body, &attr)) {
		session_warn(data, "an event's description is damaged");
		return;
	}
	while (cursor_left(&body) >= sizeof(u64))
		*vec_add(&ids) = cursor_u64(&body);
	decoder_add_kind(&data->decoder, &attr, ids.items, ids.count);
	vec_release(&ids);
}

/* The row of an event id, or the first one; NULL if there is none at all. */
static struct event_kind *kind_of(struct perfdata *data, u64 id)
{
	u32 row = idmap_get(&data->decoder.kind_of_id, id);

	if (row)
		return &data->decoder.kinds.items[row - 1];
	return data->decoder.kinds.count ? data->decoder.kinds.items : NULL;
}

static void take_event_update(struct perfdata *data, struct record_header header,
			      struct cursor body)
{
	u64 what = cursor_u64(&body), id = cursor_u64(&body);
	const char *name = cursor_text(&body, cursor_left(&body));
	struct event_kind *kind = kind_of(data, id);

	(void)header;
	if (what != EVENT_UPDATE_NAME || !name || !kind)
		return;
	free(kind->name);
	kind->name = must_copy(name);
}

static void take_feature(struct perfdata *data, struct record_header header, struct cursor body)
{
	u64 feature = cursor_u64(&body);

	(void)header;
	if (body.overrun || !data->header.is_pipe || feature >= FEATURE_BITS)
		return;
	/* perf 6.1 ends its list with an empty record of the number behind its last feature */
	if (feature >= FEATURE_PIPE_END && !cursor_left(&body))
		return;
	data->features[feature] = (struct bytes){body.next, cursor_left(&body)};
	session_read_feature(data, (u32)feature);
}

static void take_build_id(struct perfdata *data, struct record_header header, struct cursor body)
{
	session_read_build_ids(data, (struct bytes){body.next - sizeof(header), header.size_bytes});
}

static void take_start(struct perfdata *data, struct cursor *body)
{
	data->decoder.is_ours = true;
	data->header.is_ours = true;
	data->header.idle_skipped = cursor_u64(body) & NOTE_IDLE_SKIPPED;
}

static void take_extra(struct perfdata *data, struct cursor *body)
{
	struct perfdata_extra extra = {0};
	u32 count = cursor_u32(body);

	cursor_u32(body);
	extra.cost_user_ns = cursor_u64(body);
	extra.cost_bpf_ns = cursor_u64(body);
	extra.wall_ns = cursor_u64(body);
	for (u32 i = 0; i < count && !body->overrun; i++) {
		u64 loss = cursor_u64(body);

		if (i < ARRAY_COUNT(extra.losses))
			extra.losses[i] = loss;
	}
	if (!body->overrun)
		data->extra = extra;
}

void session_read_note(struct perfdata *data, struct bytes record)
{
	struct cursor body = cursor_of(record);
	u64 magic;
	u32 kind;

	body.swap = data->decoder.swap;
	cursor_take(&body, sizeof(struct record_header));
	magic = cursor_u64(&body);
	cursor_u32(&body); /* the version: what we read has never changed */
	kind = cursor_u32(&body);
	if (body.overrun || magic != NOTE_MAGIC)
		return; /* a relic of old perfs */
	if (kind == NOTE_START)
		take_start(data, &body);
	else if (kind == NOTE_EXTRA)
		take_extra(data, &body);
}

static void take_note(struct perfdata *data, struct record_header header, struct cursor body)
{
	session_read_note(data, (struct bytes){body.next - sizeof(header), header.size_bytes});
}

static size_t walk(struct perfdata *data, struct bytes records, bool is_nested);

enum { MOST_EXPANSION = 1024, LEAST_LIMIT = 1 << 20, UNKNOWN_MAX = 32 };

/* Whatever else is wrong with the file, the stream is read up to where it is damaged itself. */
static void take_block(struct perfdata *data, struct bytes piece)
{
	struct bytes block;
	size_t used;
	int error;

	if (!data->decompressor)
		data->decompressor = decompressor_new();
	if (data->is_spoilt)
		return;
	error = decompressor_piece(data->decompressor, piece, data->blocks_left, data->carry.length,
				   &block);
	if (error) {
		data->is_spoilt = true;
		session_damaged(data,
				"damaged: the compressed block at byte %zu cannot be unpacked",
				(size_t)(piece.start - data->walked));
		return;
	}
	*vec_add(&data->blocks) = (u8 *)block.start;
	data->blocks_left -= block.length - data->carry.length;
	if (data->carry.length)
		memcpy((u8 *)block.start, data->carry.start, data->carry.length);
	used = walk(data, block, true);
	data->carry = (struct bytes){block.start + used, block.length - used};
}

static void take_compressed(struct perfdata *data, struct record_header header, struct cursor body)
{
	(void)header;
	take_block(data, (struct bytes){body.next, cursor_left(&body)});
}

static void take_compressed2(struct perfdata *data, struct record_header header, struct cursor body)
{
	u64 bytes = cursor_u64(&body);

	(void)header;
	if (!body.overrun && bytes <= cursor_left(&body))
		take_block(data, (struct bytes){body.next, bytes});
}

static void take_deferred(struct perfdata *data, struct record_header header, struct cursor body)
{
	(void)header;
	deferred_add(&data->deferred, body);
}

static note_record *const note_records[] = {
	[RECORD_HEADER_ATTR] = take_attr,	  [RECORD_NOTE] = take_note,
	[RECORD_HEADER_BUILD_ID] = take_build_id, [RECORD_EVENT_UPDATE] = take_event_update,
	[RECORD_HEADER_FEATURE] = take_feature,	  [RECORD_COMPRESSED] = take_compressed,
	[RECORD_COMPRESSED2] = take_compressed2,  [RECORD_CALLCHAIN_DEFERRED] = take_deferred,
};

static void note_unknown(struct perfdata *data, u32 type)
{
	if (type <= RECORD_KERNEL_LAST || (type >= RECORD_USER_FIRST && type <= RECORD_USER_LAST))
		return;
	for (size_t i = 0; i < data->unknown_types.count; i++)
		if (data->unknown_types.items[i] == type)
			return;
	if (data->unknown_types.count > UNKNOWN_MAX)
		return;
	*vec_add(&data->unknown_types) = type;
	if (data->unknown_types.count > UNKNOWN_MAX)
		session_warn(data, "nor are those of still more types");
	else
		session_warn(data, "records of type %u are not known and were passed over", type);
}

/* Kernels that count lost samples per event (Linux 6.1) tell the sum at the end. */
static void note_lost(struct perfdata *data, struct record_header header)
{
	if (header.misc & MISC_LOST_SAMPLES_BPF)
		return;
	for (size_t i = 0; i < data->decoder.kinds.count; i++)
		if (data->decoder.kinds.items[i].attr.read_format & READ_LOST)
			data->decoder.lost_is_counted = true;
}

/* What describes the file stands outside of compressed blocks, but for our own notes and what the
 * kernel writes. */
static note_record *find_note_record(u32 type, bool is_nested)
{
	bool may_be_nested = type == RECORD_NOTE || type == RECORD_CALLCHAIN_DEFERRED;

	if (type >= ARRAY_COUNT(note_records) || (is_nested && !may_be_nested))
		return NULL;
	return note_records[type];
}

/* --- keys of call chains --- */

enum {
	PIECE_EVENTS = 1 << 12,	    /* that a thread does at once */
	KEYED_EVENTS = 1 << 16,	    /* that the other threads do while the walk goes on */
	KEYED_BYTES = 16 << 20,	    /* of the file, or so much of it: copied stacks are large */
	BROUGHT_BYTES = 32 << 20,   /* of what follows, meanwhile */
	MOST_CHAIN_BYTES = 1 << 16, /* of a record there is no more */
};

/* Until its key is known, a sample's `extra` says where its chain is: offset in the record and
 * bytes. */
static u64 chain_place(struct perfdata *data, struct record_header header, const u8 *at)
{
	struct bytes chain;

	if (data->decoder.skips_chains)
		return EXTRA_NO_CHAIN;
	chain = decode_chain(&data->decoder, header, at);
	if (chain.start && data->decoder.defers_stacks)
		deferred_want(&data->deferred, &data->decoder, chain);
	return chain.start ? (u64)(chain.start - at) * MOST_CHAIN_BYTES + chain.length
			   : EXTRA_NO_CHAIN;
}

static const u8 *last_unkeyed(const struct perfdata *data)
{
	return (const u8 *)(uintptr_t)data->unkeyed[data->unkeyed_count - 1].place;
}

static void make_keys(struct perfdata *data, size_t piece)
{
	size_t from = piece * PIECE_EVENTS, to = from + PIECE_EVENTS;

	if (to > data->unkeyed_count)
		to = data->unkeyed_count;
	for (size_t i = from; i < to; i++) {
		struct timed *event = &data->unkeyed[i];
		const u8 *record = (const u8 *)(uintptr_t)event->place;

		if (event->extra <= EXTRA_NO_SAMPLE || event->extra & EXTRA_NOTE)
			continue;
		event->extra = chain_key(&data->decoder, decode_header(&data->decoder, record),
					 (struct bytes){record + event->extra / MOST_CHAIN_BYTES,
							event->extra % MOST_CHAIN_BYTES});
	}
}

/* First what the walk comes to next is made there, which else stops for it again and again. */
static void do_piece(void *context, size_t piece)
{
	struct perfdata *data = context;

	if (piece)
		make_keys(data, piece - 1);
	else
		window_bring(&data->window, last_unkeyed(data), BROUGHT_BYTES);
}

/* Waits until all has its key that shall have it so far. */
static void finish_keys(struct perfdata *data)
{
	parallel_finish(&data->keying);
	if (data->unkeyed_count)
		window_move(&data->window, last_unkeyed(data));
	data->unkeyed_count = 0;
}

/* Begins to give keys to the events that have none yet, while their records are still in the
 * caches. */
static void start_keys(struct perfdata *data)
{
	finish_keys(data);
	if (data->keyed_events == data->events.count)
		return;
	data->unkeyed = data->events.items + data->keyed_events;
	data->unkeyed_count = data->events.count - data->keyed_events;
	data->keyed_events = data->events.count;
	parallel_start(&data->keying, 1 + (data->unkeyed_count + PIECE_EVENTS - 1) / PIECE_EVENTS,
		       do_piece, data);
}

/* Room for all events at once, if the first of a large file tell how many there will be: to move
 * them costs more than room that is not used. */
static void make_room(struct perfdata *data, const u8 *at)
{
	size_t come = (size_t)(at - data->records.start), wanted;

	finish_keys(data); /* they move */
	if (data->events.count != KEYED_EVENTS || at <= data->records.start ||
	    come > data->records.length)
		return;
	wanted = (size_t)((double)data->records.length / (double)come * KEYED_EVENTS);
	vec_reserve(&data->events, wanted - KEYED_EVENTS);
}

/* Whether there is enough to do for the other threads, or to forget. */
static bool is_time_for_keys(const struct perfdata *data)
{
	const struct timed *from = data->events.items + data->keyed_events;
	size_t count = data->events.count - data->keyed_events;

	return count == KEYED_EVENTS || (s64)(from[count - 1].place - from[0].place) > KEYED_BYTES;
}

static void add_event(struct perfdata *data, struct timed event)
{
	if (data->events.count == data->events.capacity)
		make_room(data, (const u8 *)(uintptr_t)event.place);
	*vec_add(&data->events) = event;
	if (is_time_for_keys(data))
		start_keys(data);
}

/* --- the walk --- */

static void take_record(struct perfdata *data, struct record_header header, const u8 *at,
			bool is_nested)
{
	note_record *note = find_note_record(header.type, is_nested);

	if (decode_knows(header.type)) {
		struct timed event = {
			.time_ns = decode_time(&data->decoder, header, at),
			.place = (uintptr_t)at,
			.extra = bystanders_note(data, header, at),
		};

		if (header.type == RECORD_SAMPLE) {
			event.extra = chain_place(data, header, at);
			event.who = chain_owner(&data->decoder, header, at);
		}
		add_event(data, event);
		if (header.type == RECORD_LOST_SAMPLES)
			note_lost(data, header);
	} else if (note) {
		struct cursor body = cursor_of(
			(struct bytes){at + sizeof(header), header.size_bytes - sizeof(header)});

		body.swap = data->decoder.swap;
		note(data, header, body);
	} else {
		note_unknown(data, header.type);
	}
}

/* Bytes that belong to a record and stand behind it, outside of its size. */
static u64 bytes_behind(const struct perfdata *data, struct record_header header, const u8 *at)
{
	struct cursor cursor = cursor_of((struct bytes){at, header.size_bytes});

	cursor.swap = data->decoder.swap;
	cursor_take(&cursor, sizeof(header));
	if (header.type == RECORD_HEADER_TRACING_DATA)
		return round_up(cursor_u32(&cursor), 8);
	if (header.type == RECORD_AUXTRACE)
		return cursor_u64(&cursor);
	return 0;
}

/* What a stream says in such bytes stands in a section of a file. */
static void keep_bytes_behind(struct perfdata *data, struct record_header header,
			      struct bytes behind)
{
	if (header.type == RECORD_HEADER_TRACING_DATA)
		data->features[FEATURE_TRACING_DATA] = behind;
}

static void note_cut(struct perfdata *data, const u8 *at, u64 there, u64 wanted)
{
	session_damaged(data, "cut at byte %zu: %llu of a record's %llu bytes are there",
			(size_t)(at - data->walked), (unsigned long long)there,
			(unsigned long long)wanted);
}

static void note_impossible_size(struct perfdata *data, size_t at, bool is_nested, u32 size_bytes)
{
	session_damaged(data, "damaged: the record %s%zu has the impossible size %u",
			is_nested ? "of a compressed block at its byte " : "at byte ", at,
			size_bytes);
}

/* The records end within one: its header says how much was wanted, if the header is there. */
static void note_cut_record(struct perfdata *data, const u8 *at, size_t there)
{
	u64 wanted = sizeof(struct record_header);

	if (there >= sizeof(struct record_header))
		wanted = decode_header(&data->decoder, at).size_bytes;
	note_cut(data, at, there, wanted);
}

/* Takes in all whole records; returns how many bytes they have. A nested walk (inside a compressed
 * block) leaves the rest for the next block. */
static size_t walk(struct perfdata *data, struct bytes records, bool is_nested)
{
	const u8 *at = records.start, *end = records.start + records.length;
	const u8 *origin = is_nested ? records.start : data->walked;

	while ((size_t)(end - at) >= sizeof(struct record_header)) {
		struct record_header header = decode_header(&data->decoder, at);
		u64 behind;

		if (header.size_bytes < sizeof(header)) {
			note_impossible_size(data, (size_t)(at - origin), is_nested,
					     header.size_bytes);
			data->is_spoilt |= is_nested;
			return records.length;
		}
		if (header.size_bytes > end - at)
			break;
		behind = bytes_behind(data, header, at);
		if (data->lists_records)
			session_list(data, header, at, is_nested);
		take_record(data, header, at, is_nested);
		at += header.size_bytes;
		if (behind > (u64)(end - at)) {
			data->is_spoilt |= is_nested;
			note_cut(data, at, (u64)(end - at), behind);
			return records.length;
		}
		keep_bytes_behind(data, header, (struct bytes){at, behind});
		at += behind;
	}
	if (!is_nested && at < end)
		note_cut_record(data, at, (size_t)(end - at));
	return (size_t)(at - records.start);
}

/* Each input is a stream of its own. */
static void begin_input(struct perfdata *data, const struct input *input, size_t length)
{
	decompressor_free(data->decompressor);
	data->decompressor = NULL;
	data->carry = (struct bytes){0};
	data->is_spoilt = false;
	data->blocks_left += length * MOST_EXPANSION + LEAST_LIMIT;
	data->walked = input->bytes.start;
}

static void walk_input(struct perfdata *data, const struct input *input, struct bytes records)
{
	begin_input(data, input, records.length);
	data->window = (struct window){.mapped = input->is_mapped ? records : (struct bytes){0}};
	walk(data, records, false);
	start_keys(data);
	finish_keys(data);
}

void session_index(struct perfdata *data)
{
	if (data->is_indexed)
		return;
	data->is_indexed = true;
	walk_input(data, &data->input, data->records);
	for (size_t i = 0; i < data->more_inputs.count; i++) {
		const struct input *input = &data->more_inputs.items[i];

		walk_input(data, input, input->bytes);
	}
	data->decoder.deferred = &data->deferred;
	deferred_say_missing(data);
	session_read_sources(data);
	order_by_time(data->events.items, data->events.count);
	bystanders_drop(data);
}
