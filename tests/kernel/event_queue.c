/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events are copied with what they borrow.
 */
#include "kernel/event_queue.h"

#include "base/memory.h"
#include "base/vec.h"

#include <string.h>

enum event_kind { EVENT_SAMPLE, EVENT_MAPPING, EVENT_NAME, EVENT_FORK, EVENT_EXIT };

struct queued {
	enum event_kind kind;
	void *borrowed; /* frames, path or name; freed with the event */
	union {
		struct sample sample;
		struct mapping mapping;
		struct thread_name name;
		struct thread_life life;
	};
};

struct event_queue {
	struct event_sink sink;
	VEC(struct timed) times; /* places are rows of `events` */
	VEC(struct queued) events;
};

static struct queued *add(struct event_sink *self, u64 time_ns, enum event_kind kind)
{
	struct event_queue *queue = (struct event_queue *)self;
	struct queued *event = vec_add(&queue->events);

	*vec_add(&queue->times) = (struct timed){time_ns, queue->events.count - 1};
	event->kind = kind;
	event->borrowed = NULL;
	return event;
}

static int add_sample(struct event_sink *self, const struct sample *sample)
{
	struct queued *event = add(self, sample->time_ns, EVENT_SAMPLE);
	struct frame *frames = must_alloc_array(sample->frame_count + 1U, sizeof(*frames));

	memcpy(frames, sample->frames, sample->frame_count * sizeof(*frames));
	event->sample = *sample;
	event->sample.frames = event->borrowed = frames;
	return 0;
}

static int add_mapping(struct event_sink *self, const struct mapping *mapping)
{
	struct queued *event = add(self, mapping->time_ns, EVENT_MAPPING);

	event->mapping = *mapping;
	event->mapping.path = event->borrowed = must_copy(mapping->path);
	return 0;
}

static int add_name(struct event_sink *self, const struct thread_name *name)
{
	struct queued *event = add(self, name->time_ns, EVENT_NAME);

	event->name = *name;
	event->name.name = event->borrowed = must_copy(name->name);
	return 0;
}

static int add_fork(struct event_sink *self, const struct thread_life *life)
{
	add(self, life->time_ns, EVENT_FORK)->life = *life;
	return 0;
}

static int add_exit(struct event_sink *self, const struct thread_life *life)
{
	add(self, life->time_ns, EVENT_EXIT)->life = *life;
	return 0;
}

static int hand_on(struct event_sink *next, const struct queued *event)
{
	switch (event->kind) {
	case EVENT_SAMPLE:
		return sink_call(next, on_sample, &event->sample);
	case EVENT_MAPPING:
		return sink_call(next, on_mapping, &event->mapping);
	case EVENT_NAME:
		return sink_call(next, on_name, &event->name);
	case EVENT_FORK:
		return sink_call(next, on_fork, &event->life);
	case EVENT_EXIT:
		return sink_call(next, on_exit, &event->life);
	}
	return 0;
}

static void empty(struct event_queue *queue)
{
	for (size_t i = 0; i < queue->events.count; i++)
		free(queue->events.items[i].borrowed);
	vec_release(&queue->events);
	vec_release(&queue->times);
}

int event_queue_hand_on(struct event_queue *queue, struct event_sink *next)
{
	int error = 0;

	order_by_time(queue->times.items, queue->times.count);
	for (size_t i = 0; i < queue->times.count && !error; i++)
		error = hand_on(next, &queue->events.items[queue->times.items[i].place]);
	empty(queue);
	return error;
}

struct event_queue *event_queue_new(void)
{
	struct event_queue *queue = must_alloc(sizeof(*queue));

	queue->sink = (struct event_sink){.on_sample = add_sample,
					  .on_mapping = add_mapping,
					  .on_name = add_name,
					  .on_fork = add_fork,
					  .on_exit = add_exit};
	return queue;
}

void event_queue_free(struct event_queue *queue)
{
	if (!queue)
		return;
	empty(queue);
	free(queue);
}

struct event_sink *event_queue_sink(struct event_queue *queue)
{
	return &queue->sink;
}
