/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel modules that come and go while a recording runs. Private to capture/.
 */
#ifndef CAPTURE_MODULE_WATCH_H
#define CAPTURE_MODULE_WATCH_H

#include "event/event.h"

struct module_watch;

/* Notes what is loaded. Before that is told: what comes in between is told twice, and not never.
 * Free with module_watch_free(). */
struct module_watch *module_watch_new(void);
/*
 * Hands over what has changed since the last look: of modules that are gone, that the symbol at
 * their start went, as of then; those that came as mappings. Mostly nothing has, and a few
 * microseconds show that. Samples that are looked up by time have to wait for a look after theirs.
 * Returns 0, what the sink returned, or a negative errno with a sentence.
 */
int module_watch_look(struct module_watch *watch, struct event_sink *sink);
/* Frees; NULL is fine. */
void module_watch_free(struct module_watch *watch);

#endif
