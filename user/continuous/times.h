/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Times as a person types them, to ranges of CLOCK_REALTIME. Pure but for the time zone ($TZ).
 *
 * A moment is a time of day "14:00" or "14:00:30" (the last one that was), with a date
 * "2026-11-21 14:00", "yesterday 14:00", a date alone (its first instant), ISO 8601 with or without
 * a zone "2026-11-21T14:00:00Z", "…+01:00", a time span before now ("10m", "1h30m" is "90m"),
 * "@SECONDS" since 1970, or "now". Without a zone it is local time; what a change of the clocks
 * makes of it: a time that comes twice begins with the first and ends with the second.
 */
#ifndef CONTINUOUS_TIMES_H
#define CONTINUOUS_TIMES_H

#include "bpfprof/types.h"

#include <stdbool.h>

struct time_span {
	u64 from_ns, to_ns; /* [from, to), CLOCK_REALTIME */
};

/*
 * Reads one moment.
 *
 * now_ns   CLOCK_REALTIME
 * is_end   it ends a range: of a time that comes twice, the later one
 * Returns 0 or -EINVAL without a sentence.
 */
int times_parse_moment(const char *text, u64 now_ns, bool is_end, u64 *ret_ns);

/*
 * Reads the moment that ends what begins at `from_ns`. A time of day that was not since then is the
 * first one behind it, which may be still to come.
 * Returns 0 or -EINVAL without a sentence; the end may be in front of the begin.
 */
int times_parse_end(const char *text, u64 now_ns, u64 from_ns, u64 *ret_ns);

/*
 * Reads "MOMENT..MOMENT", or a moment alone: the minute (or day, or second) that it names or is in.
 * A time of day behind ".." is the first one after the range's start.
 * Returns 0 or -EINVAL without a sentence.
 */
int times_parse_range(const char *text, u64 now_ns, struct time_span *ret_span);

/* Whether it can only be a range of moments, and not recording seconds or percents of a recording:
 * it has a colon, a date, "..", or a word. */
bool times_look_like_clock(const char *text);

/* The local day that many days before today, from midnight to midnight. */
struct time_span times_day(u64 now_ns, int days_ago);
/* "2026-11-21 14:00:00": local time; into `text`, which it returns. */
const char *times_text(u64 ns, char text[static 32]);

#endif
