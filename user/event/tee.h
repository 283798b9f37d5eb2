/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sink that hands every event to several sinks in turn.
 */
#ifndef EVENT_TEE_H
#define EVENT_TEE_H

#include "event/event_sink.h"

#include <stddef.h>

/* Calls `sinks` (borrowed, `count` of them) in order; the first error stops. Free with tee_free().
 */
struct event_sink *tee_new(struct event_sink *const *sinks, size_t count);
/* Frees; NULL is fine. */
void tee_free(struct event_sink *tee);

#endif
