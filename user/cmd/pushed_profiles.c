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

static int read_window(const struct push_origin *origin, const struct push_window *window,
		       struct profile **ret_profile)
{
	const struct builder_settings counting = {.max_stack = UINT16_MAX};
	const struct filter_settings all = {0};
	CLEANUP(asked_windows_release)
	struct asked_windows windows = {
		.names = must_copy(origin->names),
	};
	struct symbolize_settings symbolize = {.only_kept = true};
	struct symbolizer *symbolizer;
	struct profile *profile = NULL;
	int error;

	*vec_add(&windows.windows) = (struct asked_window){.path = must_copy(window->path)};
	error = windows_read(
		&windows, (struct windows_reading){.builder = &counting, .filter = &all}, &profile);
	if (error)
		return error;
	symbolize.caches[0] = asked_windows_names(&windows);
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

int pushed_profiles_make(const struct push_origin *origin, const struct push_window *window,
			 push_take *take, void *taker)
{
	CLEANUP(text_release) struct text name = {0};
	struct profile *profile;
	struct pprof_settings settings = {
		.start_ns = window->start_ns,
		.duration_ns = window->end_ns - window->start_ns,
		.names_are_frames = true,
	};
	int error = read_window(origin, window, &profile);

	if (error)
		return error;
	text_append(&name, "bpfprof{");
	put_label(&name, "host", origin->host);
	text_append(&name, "}");
	error = hand_over(profile, &settings, text_view(&name), take, taker);
	profile_free(profile);
	return error;
}
