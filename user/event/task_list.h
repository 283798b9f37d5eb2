/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every thread that a recording knew, who began it, and what was mapped in the end: the lists that
 * perf report --tasks and --mmaps print.
 *
 * Follows perf's reader: what ended stays in the list, but a thread whose number is given again
 * takes the place of the one before.
 */
#ifndef EVENT_TASK_LIST_H
#define EVENT_TASK_LIST_H

#include "event/event_sink.h"

#include <stdio.h>

struct task_list;

/* An empty list, with the idle task in it; `has_maps`: it keeps mappings, too. Free with
 * task_list_free(). */
struct task_list *task_list_new(bool has_maps);
/* Frees; NULL is fine. */
void task_list_free(struct task_list *tasks);

/* The sink to feed; lives as long as the list. */
struct event_sink *task_list_sink(struct task_list *tasks);

/* Prints them, each behind the one that began it, in perf's order. */
void task_list_print(const struct task_list *tasks, FILE *out);

#endif
