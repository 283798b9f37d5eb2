/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps what a capture tells, and hands it over in the order of time. (A capture hands over what
 * processes did before the samples, a quarter of a second at a time.)
 */
#ifndef TESTS_KERNEL_EVENT_QUEUE_H
#define TESTS_KERNEL_EVENT_QUEUE_H

#include "event/event.h"

struct event_queue;

/* An empty queue. Free with event_queue_free(). */
struct event_queue *event_queue_new(void);
/* Frees; NULL is fine. */
void event_queue_free(struct event_queue *queue);

/* The sink to fill it with: samples, mappings, names, forks and exits. Lives as long as the queue.
 */
struct event_sink *event_queue_sink(struct event_queue *queue);
/* Hands all of it to `next`, and forgets it. Returns 0 or what `next` returned. */
int event_queue_hand_on(struct event_queue *queue, struct event_sink *next);

#endif
