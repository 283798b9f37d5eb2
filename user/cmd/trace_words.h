/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What tracepoints of a recording say, in the words that a report or a script shows. Behind
 * guarded_begin().
 */
#ifndef CMD_TRACE_WORDS_H
#define CMD_TRACE_WORDS_H

#include "perfdata/perfdata.h"
#include "profile/profile.h"
#include "symbolize/symbolize.h"

struct trace_words;

/* Whose tables name the kernel's functions, with the locator as of the sample's time. */
struct trace_place {
	struct profile *profile;
	struct locator *locator;
};

/*
 * Reads the recording's formats.
 *
 * data        borrowed, and so is the symbolizer
 * ret_words   trace_words_free() it
 * Returns 0 or a negative errno with a sentence, as tracepoints_open().
 */
int trace_words_open(const struct perfdata *data, struct symbolizer *symbolizer,
		     struct trace_words **ret_words);
/* Frees; NULL is fine. */
void trace_words_free(struct trace_words *words);

/* What one sample says, as it may reach a terminal, with its tabs; "" if its event is not
 * described. `source` is its event, `raw` what it recorded. Borrowed until the next call. */
const char *trace_words_tell(struct trace_words *words, const struct trace_place *place,
			     const struct event_source *source, struct bytes raw);

#endif
