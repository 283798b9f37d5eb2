/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Brings what a capture tells into the order of time: it hands over what processes did before the
 * samples, a quarter of a second at a time.
 */
#ifndef TESTS_KERNEL_EVENT_QUEUE_H
#define TESTS_KERNEL_EVENT_QUEUE_H

#include "event/event.h"

struct event_queue;

/* Samples, mappings, names, forks and exits go to `next` (borrowed) in the order of time, after
 * each round what is older than it. Free with event_queue_free(). */
struct event_queue *event_queue_new(struct event_sink *next);
/* Frees; NULL is fine. */
void event_queue_free(struct event_queue *queue);

/* The sink to fill it with. Lives as long as the queue. */
struct event_sink *event_queue_sink(struct event_queue *queue);

#endif
