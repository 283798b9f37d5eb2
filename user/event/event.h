/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events: what producers (the live kernel, a perf.data file) hand to consumers, one at a time, and
 * the interface between them. This is the folder's face; the parts have a header each.
 */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include "event/branch_history.h"
#include "event/branch_tally.h"
#include "event/event_sink.h"
#include "event/filter.h"
#include "event/order.h"
#include "event/pass.h"
#include "event/process_table.h"
#include "event/sample.h"
#include "event/sorter.h"
#include "event/stack.h"
#include "event/stack_tally.h"
#include "event/task_list.h"
#include "event/tee.h"

#endif
