/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of windows' files, and what can be told of a window by its file alone.
 */
#include "continuous/store_files.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/number.h"
#include "perfdata/perfdata.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const u64 second_ns = 1000000000;

/* --- names --- */

static struct tm parts_of(window_key key)
{
	time_t seconds = (time_t)(window_key_start(key) / second_ns);
	struct tm parts = {0};

	gmtime_r(&seconds, &parts);
	return parts;
}

char *window_folder_path(const char *windows, window_key key)
{
	char day[16];
	struct tm parts = parts_of(key);

	strftime(day, sizeof(day), "%Y%m%d", &parts);
	return must_format("%s/%s", windows, day);
}

static const char *const kind_names[] = {
	[WINDOW_DATA] = ".data", [WINDOW_OPEN] = ".open", [WINDOW_SUMS] = ".sums"};

char *window_file_path(const char *windows, window_key key, enum window_file_kind kind)
{
	char start[32];
	struct tm parts = parts_of(key);
	u32 number = window_key_number(key);

	strftime(start, sizeof(start), "%Y%m%d/%H%M%S", &parts);
	if (number)
		return must_format("%s/%s-%u%s", windows, start, number, kind_names[kind]);
	return must_format("%s/%s%s", windows, start, kind_names[kind]);
}

/* Exactly `digits` of them. */
static bool read_digits(const char *text, size_t digits, u32 *ret_value)
{
	*ret_value = 0;
	for (size_t i = 0; i < digits; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		*ret_value = *ret_value * 10 + (u32)(text[i] - '0');
	}
	return true;
}

/* "140500.data", "140500-2.open" */
static bool read_name(u32 day, const char *name, struct window_file *ret_file)
{
	enum { CLOCK_DIGITS = 6, MOST_NUMBER = 99999 };
	u32 clock, number = 0;
	const char *dot = strchr(name, '.');

	if (!dot || !read_digits(name, CLOCK_DIGITS, &clock))
		return false;
	name += CLOCK_DIGITS;
	if (*name == '-' &&
	    (dot - name > 6 || !read_digits(name + 1, (size_t)(dot - name - 1), &number) ||
	     !number || number > MOST_NUMBER))
		return false;
	if (*name != '-' && name != dot)
		return false;
	for (u32 kind = 0; kind < ARRAY_COUNT(kind_names); kind++) {
		ret_file->kind = kind;
		if (!strcmp(dot, kind_names[kind]))
			return window_key_of(day, clock, number, &ret_file->key);
	}
	return false;
}

/* Takes the folder of a day. Returns 0 or a negative errno. */
typedef int take_day(const char *path, u32 day, DIR *folder, void *context);

/* For each day. */
struct days {
	take_day *take;
	void *context;
	struct text *notes; /* on days that are none; NULL: not wanted */
};

/* Returns whether that is all to be done about a day whose folder cannot be opened: then somebody
 * is told. */
static bool is_passed_over(struct text *notes, const char *path, int error)
{
	bool is_other = error == ENOTDIR || error == ELOOP;

	if (error == ENOENT) /* it went meanwhile */
		return true;
	if (!is_other && (error != EACCES || !notes))
		return false;
	if (notes && is_other)
		text_appendf(notes,
			     "%s is no folder: nothing of that day is read; remove or rename it\n",
			     path);
	else if (notes)
		text_appendf(notes,
			     "%s may not be opened: nothing of that day is read; run as root, or "
			     "give its group r-x\n",
			     path);
	return true;
}

static int open_day(const char *windows, const char *name, const struct days *days)
{
	enum { DAY_DIGITS = 8 };
	CLEANUP(freep) char *path = must_format("%s/%s", windows, name);
	CLEANUP(closedirp) DIR *folder = NULL;
	u32 day;

	if (strlen(name) != DAY_DIGITS || !read_digits(name, DAY_DIGITS, &day))
		return 0;
	folder = opendir(path);
	if (folder)
		return days->take(path, day, folder, days->context);
	return is_passed_over(days->notes, path, errno) ? 0 : -errno;
}

static int each_day(const char *windows, const struct days *days)
{
	CLEANUP(closedirp) DIR *folder = opendir(windows);
	const struct dirent *item;
	int error = 0;

	if (!folder)
		return -errno;
	while (!error && (item = readdir(folder)))
		error = open_day(windows, item->d_name, days);
	return error;
}

static int list_day(const char *path, u32 day, DIR *folder, void *context)
{
	file_list *files = context;
	const struct dirent *item;

	(void)path;
	while ((item = readdir(folder))) {
		struct window_file file;

		if (read_name(day, item->d_name, &file))
			*vec_add(files) = file;
	}
	return 0;
}

static int compare_files(const void *left, const void *right)
{
	const struct window_file *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (int)a->kind - (int)b->kind;
}

int window_files_list(const char *windows, file_list *ret_files, struct text *notes)
{
	const struct days days = {list_day, ret_files, notes};
	int error = each_day(windows, &days);

	if (ret_files->count)
		qsort(ret_files->items, ret_files->count, sizeof(*ret_files->items), compare_files);
	return error;
}

/* Names that files have until there is something in them: "140500.open.k3Fx0a", and sums. */
static bool is_left_behind(const char *name)
{
	enum { CLOCK_DIGITS = 6 };
	const char *dot = strchr(name, '.');
	u32 clock;

	return dot && read_digits(name, CLOCK_DIGITS, &clock) &&
	       (!strncmp(dot, ".open.", strlen(".open.")) || !strcmp(dot, ".sums-new"));
}

static int tidy_day(const char *path, u32 day, DIR *folder, void *context)
{
	const struct dirent *item;

	(void)day;
	(void)context;
	while ((item = readdir(folder)))
		if (is_left_behind(item->d_name) && unlinkat(dirfd(folder), item->d_name, 0))
			return -errno;
	rmdir(path); /* if nothing is left in it */
	return 0;
}

int window_files_tidy(const char *windows)
{
	const struct days days = {.take = tidy_day};

	return each_day(windows, &days);
}

/* --- what a file tells --- */

struct measure {
	struct event_sink sink; /* first */
	u64 samples, first_ns, last_ns;
};

static int count_sample(struct event_sink *sink, const struct sample *sample)
{
	struct measure *measure = (struct measure *)sink;

	measure->samples += sample_count(sample);
	if (sample->time_ns && (!measure->first_ns || sample->time_ns < measure->first_ns))
		measure->first_ns = sample->time_ns;
	if (sample->time_ns > measure->last_ns)
		measure->last_ns = sample->time_ns;
	return 0;
}

/* Nobody asks for the frames. */
static bool know_chain(struct event_sink *sink, const struct sample *sample)
{
	(void)sink;
	(void)sample;
	return true;
}

/* A moment of the recording by the wall clock; 0: cannot be told. */
static u64 wall_clock_at(const struct perfdata_header *header, u64 time_ns)
{
	if (!header->has_clock || !time_ns || !header->wall_clock_ns)
		return 0;
	return header->wall_clock_ns + (time_ns - header->clock_ns);
}

static u64 end_of(const struct perfdata *data, const struct measure *measure, u64 start_ns)
{
	const struct perfdata_extra *extra = perfdata_extra(data);
	u64 last_ns = wall_clock_at(perfdata_header(data), measure->last_ns);

	if (extra && extra->wall_ns)
		return start_ns + extra->wall_ns;
	if (last_ns >= start_ns)
		return last_ns + 1;
	return start_ns + (measure->last_ns - measure->first_ns);
}

int window_file_measure(const char *path, window_key key, struct store_window *ret_window)
{
	CLEANUP(perfdata_closep) struct perfdata *data = NULL;
	struct measure measure = {.sink = {.on_sample = count_sample, .knows_chain = know_chain}};
	struct store_window window = {.start_ns = window_key_start(key), .flags = STORE_RECOVERED};
	const struct event_source *sources;
	const struct perfdata_extra *extra;
	u32 count;
	int error = perfdata_open_window(path, &data);

	if (error)
		return error;
	error = perfdata_read(data, &measure.sink);
	if (error && (error != -EBADMSG || !measure.samples))
		return error;
	if (error)
		window.flags |= STORE_CUT;
	sources = perfdata_sources(data, &count);
	extra = perfdata_extra(data);
	window.end_ns = end_of(data, &measure, window.start_ns);
	window.bytes = perfdata_header(data)->file_bytes;
	window.samples = measure.samples;
	if (count && sources[0].is_frequency)
		window.rate_hz = (u32)sources[0].rate;
	for (size_t i = 0; extra && i < COUNTERS_MAX; i++)
		window.losses[i] = extra->losses[i];
	*ret_window = window;
	return 0;
}
