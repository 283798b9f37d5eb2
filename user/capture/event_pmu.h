/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events of the form pmu/term,term=value/ by what the kernel says about its PMUs in sysfs. Private
 * to this folder.
 */
#ifndef CAPTURE_EVENT_PMU_H
#define CAPTURE_EVENT_PMU_H

#include "capture/event_parser.h"

/*
 * Fills type, config…, rate and (by a name= term) name of `event`, whose other members stay.
 *
 * sysfs  "/sys", or a test's folder
 * terms  what stands between the slashes, "" for none
 * Returns 0 or -EINVAL/-ENOENT with a sentence (the nearest name is suggested).
 */
int event_pmu_parse(const char *sysfs, const char *pmu, const char *terms,
		    struct parsed_event *event);

/* The PMU that has a named event `alias` in sysfs, owned by the caller; NULL: none has. The PMU
 * "cpu" goes first. */
char *event_pmu_with_alias(const char *sysfs, const char *alias);

#endif
