/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a delivery ends, whether it was one or several side by side.
 */
#include "base/fail.h"
#include "bpfprof/counters.h"
#include "perfdata/delivery.h"

#include <errno.h>

struct window delivery_window(const struct perfdata *data, size_t from)
{
	struct window window = {.mapped = data->input.is_mapped ? data->records
								: (struct bytes){0}};
	const u8 *first;

	if (from >= data->events.count || !window.mapped.start)
		return window;
	/* What lies in front of it is not ours to forget: another one may be reading there. */
	first = delivery_record(&data->events.items[from]);
	if (first >= window.mapped.start && first < window.mapped.start + window.mapped.length)
		window.forgotten = (size_t)(first - window.mapped.start);
	return window;
}

/* Our own files tell by reason what was lost. */
static int hand_over_losses(const struct perfdata *data, struct event_sink *sink)
{
	const struct perfdata_extra *extra = perfdata_extra(data);
	int error = 0;

	for (u32 reason = 0; extra && reason < COUNTER_COUNT && !error; reason++) {
		struct loss loss = {
			.count = extra->losses[reason], .reason = reason, .source = ~0u};

		if (loss.count)
			error = sink_call(sink, on_loss, &loss);
	}
	return error;
}

int delivery_end(const struct perfdata *data, struct event_sink *sink)
{
	int error = hand_over_losses(data, sink);

	return error ? error : sink_call(sink, on_end);
}

int delivery_say_damage(struct perfdata *data, const struct delivery_tally *tally)
{
	unsigned long long samples = tally->samples;

	if (tally->unknown_ids)
		session_warn(
			data,
			"%llu samples of events that the file does not describe were passed over",
			(unsigned long long)tally->unknown_ids);
	if (data->damage.what)
		return fail_plain(-EBADMSG, NULL, "%s is %s; %llu samples before that are shown",
				  data->path, data->damage.what, samples);
	if (tally->malformed)
		return fail_plain(
			-EBADMSG, NULL,
			"%s is damaged: %llu records make no sense; %llu samples are shown",
			data->path, (unsigned long long)tally->malformed, samples);
	if (data->is_unterminated)
		return fail_plain(
			-EBADMSG, NULL,
			"%s was not ended by its recorder; the %llu samples in it are shown",
			data->path, samples);
	return 0;
}
