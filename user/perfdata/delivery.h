/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handing the events of an indexed recording to a sink, or a part of them. Private to the folder.
 */
#ifndef PERFDATA_DELIVERY_H
#define PERFDATA_DELIVERY_H

#include "perfdata/session.h"

/* What came of the records. */
struct delivery_tally {
	u64 samples, malformed, unknown_ids;
};

enum { PROGRESS_EVENTS = 256 };

/* Records that were read apart from the mapped file. */
struct far_records {
	const u8 *from; /* where they are mapped */
	u8 *bytes;	/* of MOST_BYTES; NULL: none yet */
	size_t length;
	size_t wanted; /* how much is read next */
};

/* What one delivery remembers from sample to sample. */
struct delivery {
	struct perfdata *data;
	struct decoder *decoder; /* of its own, where there are several */
	struct event_sink *sink;
	struct idmap value_of_id; /* counter id, or of that and thread: row of values + 1 */
	VEC(u64) values;	  /* as the last sample told them */
	struct delivery_tally tally;
	const u8 *last; /* record that was wanted; see delivery_near_record() */
	struct far_records far;
	/* Hears every PROGRESS_EVENTS events, and at the end, how many delivery_events() has handed
	 * over; NULL: nobody wants to know. */
	void (*on_progress)(struct delivery *delivery, size_t done);
	void *context; /* of who made it */
};

static inline const u8 *delivery_record(const struct timed *event)
{
	return (const u8 *)(uintptr_t)event->place;
}

/* Hands over one event. Returns 0 or what the sink returned. */
int delivery_event(struct delivery *delivery, const struct timed *event);
/* How many events in front, of so many, a sink that picks samples does not want. */
size_t delivery_passed(struct event_sink *sink, const struct timed *events, size_t count);
/* Hands over the events [from, to) of the index. Returns as above. */
int delivery_events(struct delivery *delivery, size_t from, size_t to);
/*
 * Where to read a record from, of which only few are wanted. To look at one in the mapped file maps
 * sixteen pages around it, which costs more than to read one that stands alone, or a few. Where
 * many lie beside each other, reading ends: more is read each time, and then they are mapped.
 *
 * `next`: of the event that follows, where it mostly ends. Valid until the next call.
 */
const u8 *delivery_near_record(struct delivery *delivery, const struct timed *event,
			       const u8 *next);
/* Frees what it remembers. */
void delivery_release(struct delivery *delivery);

/* A window over the records, for reading from this event of the index on. */
struct window delivery_window(const struct perfdata *data, size_t from);
/* Gives back what only reading needs, if there will be no other one. */
void delivery_forget(struct perfdata *data);
/* What is told behind the last event: the losses of our own files, and that it is the end. */
int delivery_end(const struct perfdata *data, struct event_sink *sink);
/* What perfdata_read() returns when everything has been handed over. */
int delivery_say_damage(struct perfdata *data, const struct delivery_tally *tally);

#endif
