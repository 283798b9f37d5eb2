/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sink that weighs each sample by what its access to memory cost, in place of its period.
 */
#ifndef CMD_MEMORY_COSTS_H
#define CMD_MEMORY_COSTS_H

#include "perfdata/perfdata.h"

/* Hands over to `next`; both are borrowed. An access whose cost was not recorded costs 1, as in
 * perf. free() it. */
struct event_sink *memory_costs_new(struct perfdata *data, struct event_sink *next);

#endif
