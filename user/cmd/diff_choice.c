/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which recordings are compared with which, and what can be asked together.
 */
#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "cmd/diff_settings.h"
#include "cmd/kernel_files.h"
#include "lbr/lbr.h"

#include <errno.h>
#include <string.h>

static bool is_divider(const char *argument)
{
	return !strcmp(argument, ":");
}

static int refuse_streams(struct arguments arguments)
{
	for (int i = 0; i < arguments.count; i++)
		if (!strcmp(arguments.items[i], "-"))
			return fail_plain(-EINVAL, "write it into a file first",
					  "diff does not read streams");
	return 0;
}

struct choice {
	struct diff_file *files;
	u32 count, sides;
};

/* "a1 a2 : b1 b2": the recordings of a side stand together. */
static int choose_groups(struct arguments arguments, struct choice *choice)
{
	u32 in_side = 0;

	for (int i = 0; i < arguments.count; i++) {
		if (!is_divider(arguments.items[i])) {
			choice->files[choice->count++] = (struct diff_file){
				.path = arguments.items[i], .side = choice->sides};
			in_side++;
			continue;
		}
		if (!in_side)
			break;
		choice->sides++;
		in_side = 0;
	}
	if (!in_side)
		return fail_plain(-EINVAL, "write OLD1 OLD2 : NEW1 NEW2",
				  "there is no recording on one side of ':'");
	choice->sides++;
	return 0;
}

/* As perf: the recording before the last one, which perf record keeps, is the baseline. */
static void choose_each(struct arguments arguments, struct choice *choice)
{
	u32 given = (u32)arguments.count;

	choice->sides = choice->count = given < 2 ? 2 : given;
	choice->files[0].path = "perf.data.old";
	choice->files[1].path = "perf.data";
	for (u32 i = 0; i < given; i++)
		choice->files[given == 1 ? 1 : i].path = arguments.items[i];
	for (u32 i = 0; i < choice->count; i++)
		choice->files[i].side = i;
}

/* --before and --after: one file twice. */
static int choose_parts(const struct diff_settings *settings, u32 given, struct diff_file *files)
{
	if (!settings->before && !settings->after)
		return 0;
	if (!settings->before || !settings->after)
		return fail_plain(-EINVAL, "give both, such as --before 0%-50% --after 50%-100%",
				  "--before and --after belong together");
	if (settings->choice.times)
		return fail_plain(-EINVAL, "leave --time out",
				  "--before and --after say which times are wanted");
	if (given > 1)
		return fail_plain(-EINVAL, "name one", "--before and --after are of one recording");
	files[0].path = files[1].path;
	files[0].times = settings->before;
	files[1].times = settings->after;
	return 0;
}

/* --- parts of the store --- */

bool diff_asks_for_store(const struct diff_settings *settings)
{
	const struct window_choice *choice = &settings->windows;

	return choice->store || (settings->before && times_look_like_clock(settings->before)) ||
	       (settings->after && times_look_like_clock(settings->after));
}

/* Both parts, each of which is a side. */
static int choose_windows(const struct diff_settings *settings, u32 given, struct choice *choice)
{
	const char *ranges[] = {settings->before, settings->after};
	static const char *const options[] = {"--before", "--after"};
	u64 now_ns = clock_ns(CLOCK_REALTIME);
	int error = 0;

	if (given)
		return fail_plain(-EINVAL, "leave the file out, or give parts of it as --time does",
				  "times of the clock are of the store, and not of a recording");
	if (!settings->before || !settings->after || settings->choice.times)
		return fail_plain(-EINVAL, "give --before '14:00..14:05' --after '15:00..15:05'",
				  "of the store, two times are compared");
	choice->count = choice->sides = 2;
	for (u32 i = 0; i < 2 && !error; i++) {
		struct diff_file *file = &choice->files[i];

		*file = (struct diff_file){.side = i, .times = ranges[i]};
		file->windows = must_alloc(sizeof(*file->windows));
		error = asked_windows_find_at(&settings->windows, options[i], ranges[i], now_ns,
					      file->windows);
	}
	return error;
}

int diff_files_choose(const struct diff_settings *settings, struct arguments arguments,
		      struct diff_file **ret_files, u32 *ret_count, u32 *ret_sides)
{
	struct choice choice = {
		.files = must_alloc_array((size_t)arguments.count + 2, sizeof(*choice.files))};
	bool has_groups = false;
	int error = refuse_streams(arguments);

	for (int i = 0; i < arguments.count; i++)
		has_groups |= is_divider(arguments.items[i]);
	if (!error && diff_asks_for_store(settings))
		error = choose_windows(settings, (u32)arguments.count, &choice);
	else if (!error && has_groups)
		error = choose_groups(arguments, &choice);
	else if (!error)
		choose_each(arguments, &choice);
	if (!error && !diff_asks_for_store(settings))
		error = choose_parts(settings, (u32)arguments.count, choice.files);
	*ret_files = choice.files;
	*ret_count = choice.count;
	*ret_sides = choice.sides;
	return error;
}

static void append_windows(struct text *name, const struct asked_windows *windows)
{
	size_t count = windows->windows.count;
	char from[32], to[32];

	text_appendf(name, "%s to %s (%zu window%s)",
		     times_text(windows->windows.items[0].facts.start_ns, from),
		     times_text(windows->windows.items[count - 1].facts.end_ns, to), count,
		     count == 1 ? "" : "s");
}

char *diff_side_name(const struct diff_file *files, u32 count, u32 side)
{
	struct text name = {0};

	for (u32 i = 0; i < count; i++) {
		if (files[i].side != side)
			continue;
		text_append(&name, name.length ? " " : "");
		if (files[i].windows) {
			append_windows(&name, files[i].windows);
			continue;
		}
		text_append(&name, files[i].path);
		if (files[i].times)
			text_appendf(&name, " %s", files[i].times);
	}
	return text_take(&name);
}

/* --- what does not go together --- */

static int check_rates(const struct diff_settings *settings)
{
	if (!settings->shows_rates)
		return 0;
	if (settings->is_strict)
		return fail_plain(-EINVAL, "leave one of them out",
				  "--strict-perf and --rate: perf has no rates");
	if (settings->method == COMPARE_WEIGHTED)
		return fail_plain(-EINVAL, "leave one of them out",
				  "--rate and -c wdiff: it is periods that have weights");
	if (settings->only_significant || settings->fail_if.count)
		return fail_plain(-EINVAL, "leave one of them out",
				  "--rate and %s: it is shares that are tested",
				  settings->only_significant ? "--significant" : "--fail-if");
	return 0;
}

/* What perf does not have. */
static const char *beyond_perf(const struct diff_settings *settings)
{
	if (settings->children || settings->paths)
		return settings->paths ? "diff of call paths" : "diff of what functions called";
	if (settings->only_significant)
		return "test of significance";
	if (settings->fail_if.count)
		return "conditions";
	return settings->json || settings->csv ? "such output" : NULL;
}

static int check_output(const struct diff_settings *settings)
{
	if (settings->is_strict && beyond_perf(settings))
		return fail_plain(-EINVAL, "leave --strict-perf out", "perf has no %s",
				  beyond_perf(settings));
	if (settings->paths && (settings->csv || settings->shows_rates))
		return fail_plain(-EINVAL, "leave one of them out",
				  "--paths and %s: paths are text or JSON, and of shares",
				  settings->csv ? "--csv" : "--rate");
	if (settings->stitch != LBR_PLAIN && !settings->paths && !settings->children)
		return fail_plain(-EINVAL, "use it with --children or --paths",
				  "--stitch-lbr: without callers there is nothing to stitch");
	if (settings->json && settings->csv)
		return fail_plain(-EINVAL, "leave one of them out",
				  "--json and --csv: there is only one output");
	return 0;
}

/* What cannot be said of blocks of code, or streams of branches. */
static const char *beyond_branches(const struct diff_settings *settings)
{
	if (settings->children || settings->paths)
		return settings->paths ? "--paths" : "--children";
	if (settings->only_significant || settings->shows_rates)
		return settings->shows_rates ? "--rate" : "--significant";
	if (settings->fail_if.count)
		return "--fail-if";
	if (settings->streams && settings->json)
		return "--json";
	return settings->csv ? "--csv" : NULL;
}

static int check_branches(const struct diff_settings *settings)
{
	bool has_blocks = settings->method == COMPARE_CYCLES;

	if (settings->show_spread && (!has_blocks || settings->streams))
		return fail_plain(-EINVAL, "give -c cycles, too",
				  "--cycles-hist is about the cycles of blocks");
	if (!has_blocks && !settings->streams)
		return 0;
	if (beyond_branches(settings))
		return fail_plain(-EINVAL, "leave one of them out", "%s and %s: %s",
				  settings->streams ? "--stream" : "-c cycles",
				  beyond_branches(settings),
				  settings->streams ? "streams are no lines"
						    : "blocks of code are lines of functions");
	if (diff_asks_for_store(settings))
		return fail_plain(-EINVAL, "name two recordings",
				  "the store of the daemon has no branches");
	return 0;
}

int diff_settings_check(const struct diff_settings *settings)
{
	int error = check_output(settings);

	error = error ? error : check_branches(settings);
	error = error ? error : kernel_files_check(&settings->symbolize);

	return error ? error : check_rates(settings);
}
