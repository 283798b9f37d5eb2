/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A window is read, named and written as `bpfprof export --format pprof` does it, but for labels:
 * a server makes a series of each set of them, so samples have none, and the name of the thread is
 * the outermost frame.
 */
#include "cmd/pushed_profiles.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "cmd/asked_windows.h"
#include "cmd/windows_read.h"
#include "export/export.h"
#include "host/host.h"
#include "symbolize/symbolize.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

void push_origin_init(struct push_origin *origin, const char *names)
{
	struct utsname machine = {0};

	uname(&machine);
	origin->host = must_copy(*machine.nodename ? machine.nodename : "unknown");
	origin->names = must_copy(names);
}

void push_origin_release(struct push_origin *origin)
{
	free(origin->host);
	free(origin->names);
}

/* --- reading --- */

static void read_cgroup(void *context, const struct sample *sample, struct detail_row *details)
{
	(void)context;
	details->values[DETAIL_CGROUP] = sample->cgroup;
}

static int read_window(const struct push_origin *origin, const struct push_window *window,
		       struct profile **ret_profile)
{
	const struct builder_settings counting = {
		.max_stack = UINT16_MAX,
		.details = {.kept = 1u << DETAIL_CGROUP, .read = read_cgroup},
	};
	const struct filter_settings all = {0};
	const struct names_cache_settings names = {.directory = origin->names,
						   .is_read_only = true};
	CLEANUP(asked_windows_release) struct asked_windows windows = {0};
	struct symbolize_settings symbolize = {.only_kept = true};
	struct symbolizer *symbolizer;
	struct profile *profile = NULL;
	int error;

	*vec_add(&windows.windows) = (struct asked_window){.path = must_copy(window->path)};
	error = windows_read(
		&windows, (struct windows_reading){.builder = &counting, .filter = &all}, &profile);
	if (error)
		return error;
	if (names_cache_open(&names, &symbolize.caches[0]))
		fail_clear(); /* what writes them tells why, and what is pushed has none */
	symbolizer = symbolizer_new(&symbolize);
	symbolizer_run(symbolizer, profile);
	symbolizer_free(symbolizer);
	names_cache_close(symbolize.caches[0]);
	*ret_profile = profile;
	return 0;
}

/* --- names of series --- */

/* A label, so that it can be read again: what has a meaning in a name of a series becomes "_". */
static void put_label(struct text *name, const char *key, const char *value)
{
	CLEANUP(text_release) struct text printable = {0};
	size_t first;

	if (!*value)
		return;
	text_append_printable(&printable, value);
	text_appendf(name, "%s%s=", name->bytes[name->length - 1] == '{' ? "" : ",", key);
	first = name->length;
	text_append(name, text_view(&printable));
	for (size_t i = first; i < name->length; i++)
		if (strchr("{},= \"", name->bytes[i]))
			name->bytes[i] = '_';
}

/* The name of the series that samples of a cgroup are in; `path` NULL: not known. */
static void put_name(struct text *name, const struct push_origin *origin, const char *path)
{
	struct cgroup_identity identity = {0};

	if (path)
		identity = cgroup_identify(path);
	text_append(name, "bpfprof{");
	put_label(name, "host", origin->host);
	put_label(name, "unit", identity.unit);
	put_label(name, "container", identity.container);
	text_append(name, "}");
}

/* --- series --- */

enum { SERIES_MAX = 256 }; /* of a window; samples of others have only a host */

/* The series of a profile: names of them, and to which one rows of labels belong. */
struct series {
	struct intern names; /* from 1; that of the host alone is the first */
	u32 *groups;	     /* by row of labels */
	bool *has_samples;   /* by name */
};

static u32 series_of(struct series *series, const struct push_origin *origin, const char *path)
{
	CLEANUP(text_release) struct text name = {0};
	u32 known;

	put_name(&name, origin, path);
	known = intern_find(&series->names, text_view(&name), name.length);
	if (known || series->names.count < SERIES_MAX)
		return intern_text(&series->names, text_view(&name));
	return 1;
}

static void find_series(struct series *series, const struct push_origin *origin,
			const struct profile *profile)
{
	series_of(series, origin, NULL);
	series->groups = must_alloc_array(profile->labels.count, sizeof(*series->groups));
	for (size_t i = 1; i < profile->labels.count; i++) {
		detail_id detail = profile->labels.items[i].detail;
		u64 id = profile->details.items[detail].values[DETAIL_CGROUP];

		series->groups[i] = series_of(series, origin, profile_cgroup(profile, id));
	}
	series->has_samples = must_alloc((size_t)series->names.count + 1);
	for (size_t i = 0; i < profile->counts.count; i++)
		series->has_samples[series->groups[profile->counts.items[i].labels]] = true;
}

static void series_release(struct series *series)
{
	intern_release(&series->names);
	free(series->groups);
	free(series->has_samples);
}

/* --- writing --- */

static int hand_over(const struct profile *profile, const struct pprof_settings *settings,
		     const char *name, push_take *take, void *taker)
{
	char *bytes = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&bytes, &length);
	int error = out ? pprof_write(profile, settings, out) : -errno;

	if (out && fclose(out) && !error)
		error = -errno;
	if (error)
		error = fail(error, NULL, "cannot make a profile to push");
	else
		error = take(taker, name, (struct bytes){(const u8 *)bytes, length});
	free(bytes);
	return error;
}

static int make_series(const struct push_origin *origin, const struct push_window *window,
		       const struct profile *profile, push_take *take, void *taker)
{
	CLEANUP(series_release) struct series series = {0};
	struct pprof_settings settings = {
		.start_ns = window->start_ns,
		.duration_ns = window->end_ns - window->start_ns,
		.names_are_frames = true,
	};
	int error = 0;

	find_series(&series, origin, profile);
	settings.groups = series.groups;
	for (u32 group = 1; group <= series.names.count && !error; group++) {
		settings.group = group;
		if (series.has_samples[group])
			error = hand_over(profile, &settings, intern_view(&series.names, group),
					  take, taker);
	}
	return error;
}

int pushed_profiles_make(const struct push_origin *origin, const struct push_window *window,
			 push_take *take, void *taker)
{
	struct profile *profile;
	int error = read_window(origin, window, &profile);

	if (error)
		return error;
	error = make_series(origin, window, profile, take, taker);
	profile_free(profile);
	return error;
}
