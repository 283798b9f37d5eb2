/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events of -e as perf's users write them.
 */
#ifndef CAPTURE_EVENT_PARSER_H
#define CAPTURE_EVENT_PARSER_H

#include "bpfprof/types.h"

#include <stdbool.h>
#include <stddef.h>

struct parsed_event {
	char *name; /* as given: "cycles:u"; owned */
	u32 type;   /* perf_event_attr.type */
	u64 config, config1, config2;
	bool exclude_user, exclude_kernel;
	u8 precise; /* :p … :ppp */
	u64 rate;   /* 0: the recording's; from pmu/…,freq=N,period=N/ */
	bool is_frequency;
};

/*
 * Parses a comma list: cycles, instructions, cache-references, cache-misses, branches (and
 * branch-instructions), branch-misses, bus-cycles, ref-cycles, cpu-clock, task-clock, page-faults
 * (faults), minor-faults, major-faults, context-switches (cs), cpu-migrations (migrations), rNNN,
 * pmu/config=…,config1=…,event=…,name=…/ with terms from
 * `sysfs`/bus/event_source/devices/PMU/format and events, each with modifiers :u :k :p :pp :ppp
 * (combined as in perf).
 *
 * sysfs       "/sys", or a test's folder
 * ret_events  free with events_free()
 * Returns 0 or -EINVAL/-ENOENT with a sentence (unknown name: the nearest one is suggested).
 */
int events_parse(const char *text, const char *sysfs, struct parsed_event **ret_events,
		 size_t *ret_count);
/* Whether it is a timer of the kernel's: cpu-clock or task-clock. */
bool event_is_clock(const struct parsed_event *event);
/* Frees the events and their names. */
void events_free(struct parsed_event *events, size_t count);

#endif
