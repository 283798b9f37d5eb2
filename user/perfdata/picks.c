/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events for a sink that picks samples.
 *
 * To walk over a million that are not wanted, and to read the others from all over the file, takes
 * as long as what the sink does with them. So another thread does that, some blocks of events ahead
 * of the one that hands them over; where there is none, they take turns.
 */
#include "perfdata/delivery.h"

#include "base/parallel.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	FAR_BYTES = 1 << 14,  /* from one to the next: less is in the pages around that one */
	MOST_BYTES = 1 << 16, /* of a record there is no more */
	MOSTLY_BYTES = 1 << 11,
};

enum {
	BLOCKS = 4,
	BLOCK_PICKS = 1 << 10,
	BLOCK_EVENTS = 1 << 15, /* that are gone through for them, at most */
	BLOCK_BYTES = 1 << 20,	/* of records that are read */
};

struct pick {
	const struct timed *event;
	const u8 *record; /* in the file, or in the block */
	u8 wanted;	  /* see struct sample */
};

struct pick_block {
	struct pick picks[BLOCK_PICKS];
	u32 count;
	size_t end; /* in the index: all before it was gone through */
	size_t used_bytes;
	u8 *bytes;
};

struct picking {
	const struct perfdata *data;
	const struct decoder *decoder;
	struct event_sink *sink;
	size_t at, to;	/* in the index: as far as the picks are found */
	const u8 *last; /* record that was picked */
	struct pick_block blocks[BLOCKS];
	struct parallel_task task; /* finds them */
	pthread_mutex_t lock;	   /* over what follows */
	pthread_cond_t changed;
	size_t filled, emptied; /* so many blocks were */
	bool is_given_up;
};

/* --- finding them --- */

/* To look at a record in the mapped file maps sixteen pages around it, which costs more than to
 * read one that stands alone. */
static bool is_far(const struct picking *picking, const u8 *record)
{
	const struct input *input = &picking->data->input;
	size_t distance = (size_t)(record < picking->last ? picking->last - record
							  : record - picking->last);

	return distance > FAR_BYTES && input->is_mapped && input->fd >= 0 &&
	       record >= input->bytes.start && record < input->bytes.start + input->bytes.length;
}

/* Reads a record, of which the size is not known yet. Returns false if not all of it came. */
static bool read_record(const struct picking *picking, off_t offset_bytes, struct pick_block *block)
{
	u8 *bytes = block->bytes + block->used_bytes;
	int fd = picking->data->input.fd;
	ssize_t got = pread(fd, bytes, MOSTLY_BYTES, offset_bytes);
	size_t wanted;

	if (got < (ssize_t)sizeof(struct record_header))
		return false;
	wanted = decode_header(picking->decoder, bytes).size_bytes;
	if ((size_t)got < wanted)
		got = pread(fd, bytes, wanted, offset_bytes);
	if (got < (ssize_t)wanted)
		return false;
	block->used_bytes += round_up(wanted, sizeof(u64));
	return true;
}

/* Where to read a record from. */
static const u8 *near_record(struct picking *picking, struct pick_block *block, const u8 *record)
{
	bool stands_alone = is_far(picking, record);
	const u8 *near;

	picking->last = record;
	if (!block->bytes)
		block->bytes = must_alloc_array(1, BLOCK_BYTES);
	near = block->bytes + block->used_bytes;
	if (stands_alone && read_record(picking, record - picking->data->input.bytes.start, block))
		return near;
	(void)*(const volatile u8 *)record; /* maps it now, and not when it is handed over */
	return record;
}

static void look_at(struct picking *picking, struct pick_block *block)
{
	enum { AHEAD = 12 };
	const struct timed *event = &picking->data->events.items[picking->at];
	struct event_sink *sink = picking->sink;
	u8 wanted = 0;

	if (picking->to - picking->at > AHEAD && event[AHEAD].extra > EXTRA_NO_SAMPLE)
		sink_call(sink, on_chain_ahead, event[AHEAD].extra);
	picking->at++;
	if (event->extra > EXTRA_NO_SAMPLE) {
		wanted = sink->wants_chain(sink, event->extra);
		if (!wanted)
			return;
	}
	block->picks[block->count++] = (struct pick){
		event, near_record(picking, block, delivery_record(event)), wanted};
}

static void fill(struct picking *picking, struct pick_block *block)
{
	size_t left = picking->to - picking->at;
	size_t end = picking->at + (left < BLOCK_EVENTS ? left : BLOCK_EVENTS);

	block->count = 0;
	block->used_bytes = 0;
	while (picking->at < end && block->count < BLOCK_PICKS &&
	       block->used_bytes + MOST_BYTES <= BLOCK_BYTES)
		look_at(picking, block);
	block->end = picking->at;
}

/* Returns false if nobody wants more. */
static bool wait_for_room(struct picking *picking)
{
	bool is_given_up;

	pthread_mutex_lock(&picking->lock);
	while (picking->filled - picking->emptied == BLOCKS && !picking->is_given_up)
		pthread_cond_wait(&picking->changed, &picking->lock);
	is_given_up = picking->is_given_up;
	pthread_mutex_unlock(&picking->lock);
	return !is_given_up;
}

static void *find_picks(void *context)
{
	struct picking *picking = context;
	size_t block = 0;

	while (picking->at < picking->to && wait_for_room(picking)) {
		fill(picking, &picking->blocks[block++ % BLOCKS]);
		pthread_mutex_lock(&picking->lock);
		picking->filled++;
		pthread_cond_signal(&picking->changed);
		pthread_mutex_unlock(&picking->lock);
	}
	return NULL;
}

/* --- handing them over --- */

static struct pick_block *next_block(struct picking *picking)
{
	struct pick_block *block;

	if (!picking->task.is_running) {
		fill(picking, &picking->blocks[0]);
		return &picking->blocks[0];
	}
	pthread_mutex_lock(&picking->lock);
	while (picking->filled == picking->emptied)
		pthread_cond_wait(&picking->changed, &picking->lock);
	block = &picking->blocks[picking->emptied % BLOCKS];
	pthread_mutex_unlock(&picking->lock);
	return block;
}

static void give_back(struct picking *picking)
{
	pthread_mutex_lock(&picking->lock);
	picking->emptied++;
	pthread_cond_signal(&picking->changed);
	pthread_mutex_unlock(&picking->lock);
}

static int hand_over(struct delivery *delivery, struct window *window,
		     const struct pick_block *block)
{
	int error = 0;

	for (u32 i = 0; i < block->count && !error; i++) {
		const struct pick *pick = &block->picks[i];
		struct timed near = *pick->event;

		near.place = (uintptr_t)pick->record;
		if (near.place == pick->event->place)
			window_move(window, pick->record);
		delivery->decoder->wanted = pick->wanted;
		error = delivery_event(delivery, &near);
	}
	return error;
}

/* As if each event was handed over: of `count` those behind `from`. */
static void tell_progress(struct delivery *delivery, size_t from, size_t to, size_t count)
{
	if (!delivery->on_progress)
		return;
	for (size_t done = from / PROGRESS_EVENTS + 1; done * PROGRESS_EVENTS <= to; done++)
		delivery->on_progress(delivery, done * PROGRESS_EVENTS);
	if (to == count && count % PROGRESS_EVENTS)
		delivery->on_progress(delivery, count);
}

static void end_picking(struct picking *picking)
{
	pthread_mutex_lock(&picking->lock);
	picking->is_given_up = true;
	pthread_cond_signal(&picking->changed);
	pthread_mutex_unlock(&picking->lock);
	parallel_wait(&picking->task);
	pthread_cond_destroy(&picking->changed);
	pthread_mutex_destroy(&picking->lock);
	for (u32 i = 0; i < BLOCKS; i++)
		free(picking->blocks[i].bytes);
	free(picking);
}

int delivery_picked_events(struct delivery *delivery, size_t from, size_t to)
{
	struct picking *picking = must_alloc(sizeof(*picking));
	struct window window = delivery_window(delivery->data, from);
	int error = 0;

	picking->data = delivery->data;
	picking->decoder = delivery->decoder;
	picking->sink = delivery->sink;
	picking->at = from;
	picking->to = to;
	pthread_mutex_init(&picking->lock, NULL);
	pthread_cond_init(&picking->changed, NULL);
	if (delivery->is_alone)
		parallel_begin(&picking->task, find_picks, picking);
	delivery->decoder->reader = delivery->sink;
	for (size_t at = from; at < to && !error;) {
		const struct pick_block *block = next_block(picking);
		size_t end = block->end;

		error = hand_over(delivery, &window, block);
		give_back(picking);
		tell_progress(delivery, at - from, end - from, to - from);
		at = end;
	}
	delivery->decoder->wanted = 0;
	delivery->decoder->reader = NULL;
	end_picking(picking);
	return error;
}
