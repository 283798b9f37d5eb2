/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * list: the windows of a store, one line each.
 */
#include "base/clock.h"
#include "base/fail.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "cmd/asked_windows.h"
#include "cmd/cmd.h"
#include "cmd/list_pushes.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { JSON_VERSION = 1 }; /* raised when a key goes or means something else */

struct list_settings {
	struct window_choice windows;
	bool json;
	bool by_day;
	bool is_quiet;
};

#define FIELD(field) offsetof(struct list_settings, field)

static const struct option_row list_options[] = {
	STORE_ROW(windows),
	STORE_TIME_ROWS(windows),
	HEADING("Output"),
	FLAG(0, "days", by_day, "one line for each day"),
	FLAG(0, "json", json, "print JSON, with a version number"),
	FLAG('q', "quiet", is_quiet, "no comment lines"),
	{.kind = OPTION_END},
};

/* --- notes --- */

static const struct {
	u32 flag;
	const char *word, *sentence;
} notes[] = {
	{STORE_STARTED, "started", "the daemon started"},
	{STORE_CUT, "cut", "its writer was killed"},
	{STORE_RECOVERED, "recovered", "told by its file"},
	{STORE_RATE_LOWERED, "lowered", "rate lowered"},
};

static void append_notes(struct text *line, const struct store_window *window)
{
	const char *between = "";

	for (size_t i = 0; i < ARRAY_COUNT(notes); i++) {
		if (!(window->flags & notes[i].flag))
			continue;
		text_appendf(line, "%s%s", between, notes[i].sentence);
		between = ", ";
	}
	if (window->lost_before)
		text_appendf(line, "%s%u windows before it could not be written", between,
			     window->lost_before);
}

/* --- text --- */

static void write_line(const struct store_window *window)
{
	struct text line = {0};
	char start[32], length[NUMBER_TEXT_BYTES], bytes[NUMBER_TEXT_BYTES];
	char samples[NUMBER_TEXT_BYTES], lost[NUMBER_TEXT_BYTES], rate[NUMBER_TEXT_BYTES] = "?";

	if (window->rate_hz)
		snprintf(rate, sizeof(rate), "%u Hz", window->rate_hz);
	text_appendf(&line, "%s  %8s  %9s  %11s  %9s  %8s  ", times_text(window->start_ns, start),
		     number_format_duration(asked_window_length_ns(window), length),
		     number_format_bytes(window->bytes, bytes),
		     number_format_count(window->samples, samples),
		     number_format_count(asked_window_lost(window), lost), rate);
	append_notes(&line, window);
	while (line.length && line.bytes[line.length - 1] == ' ')
		text_truncate(&line, line.length - 1);
	puts(text_view(&line));
	text_release(&line);
}

static void write_gap(const struct asked_windows *windows, size_t index, u64 now_ns)
{
	struct window_gap gap;
	char from[32], to[32];

	if (asked_windows_gap(windows, index, now_ns, &gap))
		printf("# no data %s to %s: %s\n", times_text(gap.from_ns, from),
		       times_text(gap.to_ns, to), gap.why);
}

/* What windows of one local day come to. */
struct day {
	char date[16];
	u64 windows, length_ns, bytes, samples, lost;
};

static void write_day(const struct day *day)
{
	char length[NUMBER_TEXT_BYTES], bytes[NUMBER_TEXT_BYTES];
	char samples[NUMBER_TEXT_BYTES], lost[NUMBER_TEXT_BYTES];

	if (day->windows)
		printf("%-12s  %8" PRIu64 "  %12s  %9s  %11s  %9s\n", day->date, day->windows,
		       number_format_duration(day->length_ns, length),
		       number_format_bytes(day->bytes, bytes),
		       number_format_count(day->samples, samples),
		       number_format_count(day->lost, lost));
}

static void write_days(const struct asked_windows *windows, bool is_quiet)
{
	struct day day = {0};

	if (!is_quiet)
		printf("# %-10s  %8s  %12s  %9s  %11s  %9s\n", "day (local)", "windows", "covered",
		       "size", "samples", "lost");
	for (size_t i = 0; i < windows->windows.count; i++) {
		const struct store_window *window = &windows->windows.items[i].facts;
		char start[32];

		start[strcspn(times_text(window->start_ns, start), " ")] = 0;
		if (strcmp(start, day.date) != 0) {
			write_day(&day);
			day = (struct day){0};
			snprintf(day.date, sizeof(day.date), "%.15s", start);
		}
		day.windows++;
		day.length_ns += asked_window_length_ns(window);
		day.bytes += window->bytes;
		day.samples += window->samples;
		day.lost += asked_window_lost(window);
	}
	write_day(&day);
}

static void write_windows(const struct asked_windows *windows, u64 now_ns, bool is_quiet)
{
	if (!is_quiet)
		printf("# %-17s  %8s  %9s  %11s  %9s  %8s  %s\n", "start (local)", "length", "size",
		       "samples", "lost", "rate", "notes");
	for (size_t i = 0; i < windows->windows.count; i++) {
		if (!is_quiet)
			write_gap(windows, i, now_ns);
		write_line(&windows->windows.items[i].facts);
	}
	if (!is_quiet)
		write_gap(windows, windows->windows.count, now_ns);
}

/* What was lost and why, of all windows. */
static void write_reasons(const struct asked_windows *windows, enum counter_kind kind,
			  const char *what)
{
	char lost[NUMBER_TEXT_BYTES];

	for (size_t reason = 0; reason < COUNTER_COUNT; reason++) {
		u64 sum = 0;

		if (counter_rows[reason].kind != kind)
			continue;
		for (size_t i = 0; i < windows->windows.count; i++)
			sum += windows->windows.items[i].facts.losses[reason];
		if (sum)
			printf("#   %s %s: %s\n", number_format_count(sum, lost),
			       kind == OTHER && sum == 1 ? "time" : what,
			       counter_rows[reason].sentence);
	}
}

static void write_text(const struct asked_windows *windows, u64 now_ns,
		       const struct list_settings *list)
{
	char bytes[NUMBER_TEXT_BYTES], samples[NUMBER_TEXT_BYTES], lost[NUMBER_TEXT_BYTES];

	pager_start();
	if (list->by_day)
		write_days(windows, list->is_quiet);
	else
		write_windows(windows, now_ns, list->is_quiet);
	if (list->is_quiet)
		return;
	printf("# %zu window%s, %s, %s samples, %s lost\n", windows->windows.count,
	       windows->windows.count == 1 ? "" : "s", number_format_bytes(windows->bytes, bytes),
	       number_format_count(windows->samples, samples),
	       number_format_count(windows->lost, lost));
	write_reasons(windows, LOST, "lost");
	write_reasons(windows, OTHER, "times");
	list_pushes_text(windows->directory);
}

/* --- JSON --- */

static void write_losses(const struct store_window *window, struct json_writer *json)
{
	json_object(json, "losses");
	for (size_t i = 0; i < COUNTER_COUNT; i++)
		if (window->losses[i] && counter_rows[i].kind != SEEN &&
		    counter_rows[i].kind != SENT)
			json_u64(json, counter_rows[i].name, window->losses[i]);
	json_object_end(json);
}

static void write_window(const struct asked_window *window, struct json_writer *json)
{
	const struct store_window *facts = &window->facts;

	json_object(json, NULL);
	json_u64(json, "start_ns", facts->start_ns);
	json_u64(json, "end_ns", facts->end_ns);
	json_text(json, "file", window->path);
	json_u64(json, "bytes", facts->bytes);
	json_u64(json, "samples", facts->samples);
	json_u64(json, "lost", asked_window_lost(facts));
	write_losses(facts, json);
	json_u64(json, "rate_hz", facts->rate_hz);
	json_u64(json, "windows_lost_before", facts->lost_before);
	json_array(json, "notes");
	for (size_t i = 0; i < ARRAY_COUNT(notes); i++)
		if (facts->flags & notes[i].flag)
			json_text(json, NULL, notes[i].word);
	json_array_end(json);
	json_object_end(json);
}

static void write_json(const struct asked_windows *windows, u64 now_ns)
{
	CLEANUP(json_writer_freep) struct json_writer *json = json_writer_new(stdout);
	struct window_gap gap;

	json_object(json, NULL);
	json_u64(json, "version", JSON_VERSION);
	json_text(json, "store", windows->directory);
	json_array(json, "windows");
	for (size_t i = 0; i < windows->windows.count; i++)
		write_window(&windows->windows.items[i], json);
	json_array_end(json);
	json_array(json, "gaps");
	for (size_t i = 0; i <= windows->windows.count; i++) {
		if (!asked_windows_gap(windows, i, now_ns, &gap))
			continue;
		json_object(json, NULL);
		json_u64(json, "from_ns", gap.from_ns);
		json_u64(json, "to_ns", gap.to_ns);
		json_text(json, "why", gap.why);
		json_object_end(json);
	}
	json_array_end(json);
	list_pushes_json(windows->directory, json);
	json_object_end(json);
}

static int list_run(const void *settings, struct arguments arguments)
{
	const struct list_settings *list = settings;
	CLEANUP(asked_windows_release) struct asked_windows windows = {0};
	u64 now_ns = clock_ns(CLOCK_REALTIME);
	int error;

	if (arguments.count)
		return fail_plain(-EINVAL, "name a store with --store",
				  "list takes no arguments: %s", arguments.items[0]);
	if (list->json && list->by_day)
		return fail_plain(-EINVAL, "leave one of them out",
				  "--days is a layout of text; JSON has all windows");
	error = asked_windows_find(&list->windows, now_ns, &windows);
	if (error)
		return error;
	if (list->json)
		write_json(&windows, now_ns);
	else
		write_text(&windows, now_ns, list);
	return STATUS_DONE;
}

const struct command command_list = {
	.name = "list",
	.summary = "show what the daemon has recorded: the windows of its store",
	.synopsis = "[options]",
	.examples = "bpfprof list\tAll windows: start, length, size, samples, losses, rate\n"
		    "bpfprof list --days\tOne line for each day\n"
		    "bpfprof list --yesterday\tThose of the day before\n"
		    "bpfprof list --at '14:00..15:00' --json\tOf an hour, for scripts\n",
	.options = list_options,
	.settings_bytes = sizeof(struct list_settings),
	.run = list_run,
};
