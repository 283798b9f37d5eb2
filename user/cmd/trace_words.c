/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The library that reads tracepoints, watched while it works, and the kernel's names for it.
 */
#include "cmd/trace_words.h"

#include "base/memory.h"
#include "base/text.h"
#include "cmd/guarded.h"

#include <stdlib.h>

struct trace_words {
	struct symbolizer *symbolizer;
	struct tracepoints *tracepoints;
	const struct trace_place *place; /* of the sample that is told of */
	struct text text;
};

/* Name and start of the kernel's function at an address. To read all names is our own work, which
 * may take longer than the library. */
static const char *find_kernel_function(void *context, u64 *address)
{
	const struct trace_words *words = context;
	struct profile *profile = words->place->profile;
	location_id location = locator_find(words->place->locator, profile, 0, *address,
					    SPACE_KERNEL);
	const struct function_row *function;
	const struct location_row *at;
	u32 outermost;

	guarded_leave();
	symbolizer_name(words->symbolizer, profile, location);
	guarded_enter();
	at = &profile->locations.items[location];
	if (!at->line_count)
		return NULL;
	outermost = at->first_line + at->line_count - 1;
	function = &profile->functions.items[profile->lines.items[outermost].function];
	*address -= at->address - function->start;
	return profile_text(profile, function->name);
}

int trace_words_open(const struct perfdata *data, struct symbolizer *symbolizer,
		     struct trace_words **ret_words)
{
	struct trace_words *words = must_alloc(sizeof(*words));
	struct tracepoint_names names = {find_kernel_function, words};
	int error;

	words->symbolizer = symbolizer;
	*ret_words = words;
	guarded_enter();
	error = tracepoints_open(data, names, &words->tracepoints);
	guarded_leave();
	return error;
}

void trace_words_free(struct trace_words *words)
{
	if (!words)
		return;
	tracepoints_free(words->tracepoints);
	text_release(&words->text);
	free(words);
}

const char *trace_words_tell(struct trace_words *words, const struct trace_place *place,
			     const struct event_source *source, struct bytes raw)
{
	char *told;

	text_truncate(&words->text, 0);
	if (!words->tracepoints)
		return text_view(&words->text);
	words->place = place;
	guarded_enter();
	told = tracepoints_tell(words->tracepoints, source, raw);
	guarded_leave();
	text_append_words(&words->text, told);
	return text_view(&words->text);
}
