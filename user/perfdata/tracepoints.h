/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What tracepoints recorded, in words: by the formats that a recording brings, as libtraceevent
 * reads them.
 *
 * That library trusts what it reads, and a recording may be anybody's: who uses this does so in a
 * process that may die (cmd/guarded.h).
 */
#ifndef PERFDATA_TRACEPOINTS_H
#define PERFDATA_TRACEPOINTS_H

#include "perfdata/reader.h"

struct tracepoints;

/* The kernel's functions by address. */
struct tracepoint_names {
	/* Name of the function that holds `*address`, where it starts comes back; NULL: unknown.
	 * Borrowed until the next call. */
	const char *(*find)(void *context, u64 *address);
	void *context;
};

/* Whether the recording says how its tracepoints' fields are to be read. */
bool tracepoints_are_told(const struct perfdata *data);

/*
 * Reads the formats. Loads libtraceevent: nothing links with it.
 *
 * data             borrowed
 * ret_tracepoints  tracepoints_free() it
 * Returns 0 or a negative errno with a sentence: -ENOPKG (no library), -EBADMSG (damaged).
 */
int tracepoints_open(const struct perfdata *data, struct tracepoint_names names,
		     struct tracepoints **ret_tracepoints);
/* Frees; NULL is fine. */
void tracepoints_free(struct tracepoints *tracepoints);

/* What one sample says, as the kernel would print it; foreign bytes. "" if its event is not
 * described. Borrowed until the next call; may be changed. */
char *tracepoints_tell(struct tracepoints *tracepoints, const struct event_source *source,
		       struct bytes raw);

#endif
