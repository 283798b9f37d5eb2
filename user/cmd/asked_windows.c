/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From times as typed to windows of a store, and what to say of them.
 */
#include "cmd/asked_windows.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/number.h"
#include "cmd/names_choice.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

static const u64 second_ns = 1000000000;

bool window_choice_is_made(const struct window_choice *choice)
{
	return choice->store || choice->since || choice->until || choice->at || choice->today ||
	       choice->yesterday;
}

u64 asked_window_length_ns(const struct store_window *window)
{
	return window->end_ns > window->start_ns ? window->end_ns - window->start_ns : 0;
}

u64 asked_window_lost(const struct store_window *window)
{
	u64 lost = 0;

	for (size_t i = 0; i < COUNTER_COUNT; i++)
		if (counter_rows[i].kind == LOST)
			lost += window->losses[i];
	return lost;
}

/* --- times --- */

static int refuse_time(const char *option, const char *text)
{
	return fail_plain(-EINVAL,
			  "give 14:00, '2026-11-21 14:00', 2026-11-21T14:00Z, yesterday, or 10m "
			  "for ten minutes ago; for ranges 14:00..14:05",
			  "%s '%s' is not a time", option, text);
}

/* Narrows the span to one that an option gives. */
static void narrow(struct time_span *span, struct time_span by)
{
	if (by.from_ns > span->from_ns)
		span->from_ns = by.from_ns;
	if (by.to_ns < span->to_ns)
		span->to_ns = by.to_ns;
}

static int read_times(const struct window_choice *choice, u64 now_ns, struct time_span *ret_span)
{
	struct time_span span = {0, UINT64_MAX}, part = {0};

	if (choice->at && times_parse_range(choice->at, now_ns, &part))
		return refuse_time(choice->at_option ? choice->at_option : "--at", choice->at);
	if (choice->at)
		narrow(&span, part);
	if (choice->today)
		narrow(&span, times_day(now_ns, 0));
	if (choice->yesterday)
		narrow(&span, times_day(now_ns, 1));
	part = (struct time_span){0, UINT64_MAX};
	if (choice->since && times_parse_moment(choice->since, now_ns, false, &part.from_ns))
		return refuse_time("--since", choice->since);
	narrow(&span, part);
	if (choice->until && times_parse_end(choice->until, now_ns, span.from_ns, &part.to_ns))
		return refuse_time("--until", choice->until);
	narrow(&span, part);
	if (span.from_ns >= span.to_ns)
		return fail_plain(-EINVAL, NULL, "there is no time between these times");
	*ret_span = span;
	return 0;
}

/* --- windows --- */

static int take_window(void *context, const struct store_window *window, const char *path)
{
	struct asked_windows *windows = context;

	*vec_add(&windows->windows) = (struct asked_window){.facts = *window,
							    .path = must_copy(path)};
	return 0;
}

static bool is_in(const struct store_window *window, struct time_span span)
{
	u64 middle_ns = window->start_ns + asked_window_length_ns(window) / 2;

	return middle_ns >= span.from_ns && middle_ns < span.to_ns;
}

/* Leaves out what is mostly outside, if something is inside. */
static void choose_windows(struct asked_windows *windows)
{
	size_t inside = 0, kept = 0;

	for (size_t i = 0; i < windows->windows.count; i++)
		inside += is_in(&windows->windows.items[i].facts, windows->asked);
	for (size_t i = 0; i < windows->windows.count; i++) {
		struct asked_window window = windows->windows.items[i];

		if (!inside || is_in(&window.facts, windows->asked))
			windows->windows.items[kept++] = window;
		else
			free(window.path);
	}
	windows->windows.count = kept;
}

static void sum_up(struct asked_windows *windows)
{
	for (size_t i = 0; i < windows->windows.count; i++) {
		const struct store_window *window = &windows->windows.items[i].facts;

		windows->samples += window->samples;
		windows->bytes += window->bytes;
		windows->lost += asked_window_lost(window);
	}
}

/* What is there, for who asked for something else. */
struct extent {
	u64 first_ns, last_ns;
};

static int see_extent(void *context, const struct store_window *window, const char *path)
{
	struct extent *extent = context;

	(void)path;
	if (!extent->last_ns)
		extent->first_ns = window->start_ns;
	if (window->end_ns > extent->last_ns)
		extent->last_ns = window->end_ns;
	return 0;
}

static int refuse_none(struct store *store, const struct asked_windows *windows)
{
	struct extent extent = {0};
	char from[32], to[32];
	CLEANUP(freep) char *remedy = NULL;

	store_each(store, 0, UINT64_MAX, see_extent, &extent);
	if (!extent.last_ns)
		return fail_plain(-ENODATA, "wait until the daemon has written one",
				  "the store %s has no windows yet", windows->directory);
	remedy = must_format("it has some from %s to %s", times_text(extent.first_ns, from),
			     times_text(extent.last_ns, to));
	if (windows->asked.to_ns == UINT64_MAX)
		return fail_plain(-ENODATA, remedy, "the store %s has no windows since %s",
				  windows->directory, times_text(windows->asked.from_ns, from));
	return fail_plain(-ENODATA, remedy, "the store %s has no windows from %s to %s",
			  windows->directory, times_text(windows->asked.from_ns, from),
			  times_text(windows->asked.to_ns, to));
}

static void print_notes(const struct store *store)
{
	const char *line = store_notes(store);

	while (*line) {
		size_t length = strcspn(line, "\n");

		fprintf(stderr, "bpfprof: %.*s\n", (int)length, line);
		line += length + 1;
	}
}

static int find(const struct window_choice *choice, struct asked_windows *windows)
{
	CLEANUP(store_closep) struct store *store = NULL;
	const char *directory = choice->store		   ? choice->store
				: choice->configured_store ? choice->configured_store
							   : STORE_DIRECTORY;
	int error = store_open(directory, STORE_READ, &store);

	windows->directory = must_copy(directory);
	if (error)
		return error;
	print_notes(store);
	error = store_each(store, windows->asked.from_ns, windows->asked.to_ns, take_window,
			   windows);
	if (error)
		return error;
	choose_windows(windows);
	sum_up(windows);
	return windows->windows.count ? 0 : refuse_none(store, windows);
}

int asked_windows_find(const struct window_choice *choice, u64 now_ns, struct asked_windows *ret)
{
	int error;

	*ret = (struct asked_windows){0};
	ret->has_times = choice->since || choice->until || choice->at || choice->today ||
			 choice->yesterday;
	error = read_times(choice, now_ns, &ret->asked);
	return error ? error : find(choice, ret);
}

int asked_windows_find_at(const struct window_choice *choice, const char *option, const char *range,
			  u64 now_ns, struct asked_windows *ret)
{
	struct window_choice at = *choice;

	at.at = range;
	at.at_option = option;
	return asked_windows_find(&at, now_ns, ret);
}

void asked_windows_release(struct asked_windows *windows)
{
	for (size_t i = 0; i < windows->windows.count; i++)
		free(windows->windows.items[i].path);
	vec_release(&windows->windows);
	free(windows->directory);
	*windows = (struct asked_windows){0};
}

struct names_cache *asked_windows_names(const struct asked_windows *windows)
{
	return windows->directory ? names_choice_open_store(windows->directory) : NULL;
}

/* --- what is missing --- */

static const char not_running[] = "the daemon was not running";

/* How far a window may begin behind the end of the one before it. */
static u64 slack_of(const struct store_window *window)
{
	u64 length_ns = asked_window_length_ns(window);

	return length_ns / 20 > second_ns ? length_ns / 20 : second_ns;
}

/* In front of the first window, and behind the last. */
static bool gap_at_end(const struct asked_windows *windows, bool is_first, u64 now_ns,
		       struct window_gap *gap)
{
	const struct store_window *window =
		&windows->windows.items[is_first ? 0 : windows->windows.count - 1].facts;
	u64 length_ns = asked_window_length_ns(window);
	u64 until_ns = windows->asked.to_ns < now_ns ? windows->asked.to_ns : now_ns;

	if (!windows->has_times)
		return false;
	if (is_first)
		*gap = (struct window_gap){
			windows->asked.from_ns, window->start_ns,
			window->flags & STORE_STARTED ? not_running : "there is no window any more",
			window->lost_before};
	else
		*gap = (struct window_gap){window->end_ns, until_ns, "there is no window", 0};
	/* Half a window lies out of the range, or is being written. */
	return gap->from_ns && gap->to_ns > gap->from_ns &&
	       gap->to_ns - gap->from_ns > length_ns + slack_of(window);
}

bool asked_windows_gap(const struct asked_windows *windows, size_t index, u64 now_ns,
		       struct window_gap *ret_gap)
{
	const struct store_window *before, *window;
	struct window_gap gap;

	if (index == 0 || index == windows->windows.count)
		return gap_at_end(windows, !index, now_ns, ret_gap);
	before = &windows->windows.items[index - 1].facts;
	window = &windows->windows.items[index].facts;
	gap = (struct window_gap){before->end_ns, window->start_ns, "there is no window",
				  window->lost_before};
	if (window->flags & STORE_STARTED)
		gap.why = not_running;
	else if (window->lost_before)
		gap.why = "windows could not be written";
	if (gap.to_ns <= gap.from_ns + slack_of(before))
		return false;
	*ret_gap = gap;
	return true;
}

/* --- in words --- */

static void describe_gap(const struct window_gap *gap, FILE *out)
{
	char from[32], to[32];

	fprintf(out, "# no data %s to %s: %s", times_text(gap->from_ns, from),
		times_text(gap->to_ns, to), gap->why);
	if (gap->windows)
		fprintf(out, " (%u lost)", gap->windows);
	fputc('\n', out);
}

static u64 count_flagged(const struct asked_windows *windows, u32 flag)
{
	u64 count = 0;

	for (size_t i = 0; i < windows->windows.count; i++)
		count += (windows->windows.items[i].facts.flags & flag) != 0;
	return count;
}

static void describe_flags(const struct asked_windows *windows, FILE *out)
{
	u64 cut = count_flagged(windows, STORE_CUT);
	u64 lowered = count_flagged(windows, STORE_RATE_LOWERED);

	if (cut)
		fprintf(out, "# %" PRIu64 " of them cut: their writer was killed\n", cut);
	if (lowered)
		fprintf(out,
			"# %" PRIu64 " of them sampled less often than asked for, to keep the "
			"cost down\n",
			lowered);
	if (windows->damaged)
		fprintf(out, "# %" PRIu64 " of them could not be read, or not to their end\n",
			windows->damaged);
}

void asked_windows_describe(const struct asked_windows *windows, u64 now_ns, FILE *out)
{
	enum { GAPS_SHOWN = 10 };
	size_t count = windows->windows.count;
	char from[32], to[32], samples[NUMBER_TEXT_BYTES], lost[NUMBER_TEXT_BYTES];
	u64 gaps = 0, last_ns = 0;

	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		if (windows->windows.items[i].facts.end_ns > last_ns)
			last_ns = windows->windows.items[i].facts.end_ns;
	fprintf(out, "# %s to %s: %zu window%s, %s samples, %s lost\n",
		times_text(windows->windows.items[0].facts.start_ns, from), times_text(last_ns, to),
		count, count == 1 ? "" : "s", number_format_count(windows->samples, samples),
		number_format_count(windows->lost, lost));
	describe_flags(windows, out);
	for (size_t i = 0; i <= count; i++) {
		struct window_gap gap;

		if (asked_windows_gap(windows, i, now_ns, &gap) && gaps++ < GAPS_SHOWN)
			describe_gap(&gap, out);
	}
	if (gaps > GAPS_SHOWN)
		fprintf(out, "# … and %" PRIu64 " more gaps (bpfprof list)\n", gaps - GAPS_SHOWN);
	fputs("#\n", out);
}
