/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recording that a command reads: which one it is, and what was passed over in it.
 */
#include "cmd/input.h"

#include "base/fail.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* As perf: a pipe on stdin is the recording, unless told otherwise. */
static const char *default_input(void)
{
	struct stat status;

	return !fstat(STDIN_FILENO, &status) && S_ISFIFO(status.st_mode) ? "-" : "perf.data";
}

int input_choose(const char *option, struct arguments arguments, const char **ret_path)
{
	if (arguments.count > 1)
		return fail_plain(-EINVAL, NULL, "one recording at a time: %s", arguments.items[1]);
	if (arguments.count && option)
		return fail_plain(-EINVAL, "name it once; for one function, report has -S",
				  "both -i %s and %s", option, arguments.items[0]);
	if (arguments.count)
		*ret_path = arguments.items[0];
	else
		*ret_path = option ? option : default_input();
	return 0;
}

int input_refuse_recording(const char *option, struct arguments arguments, const char *times)
{
	if (arguments.count || option)
		return fail_plain(-EINVAL, "leave one of them out",
				  "%s is a recording, and times are of a store",
				  option ? option : arguments.items[0]);
	if (times)
		return fail_plain(-EINVAL, "give --at, --since or --until",
				  "--time is of one recording");
	return 0;
}

static void show_large_file(const char *path)
{
	CLEANUP(freep) char *line = NULL;

	if (gettid() != getpid())
		return; /* the terminal's line is the first thread's */
	line = must_format("reading the names in %s", path);
	progress_line(line);
}

void input_show_progress(struct perfdata *data, struct symbolize_settings *settings)
{
	perfdata_on_progress(data, progress_show);
	settings->on_progress = progress_show;
	settings->on_large_file = show_large_file;
}

void input_print_lines(const char *lines)
{
	while (*lines) {
		size_t length = strcspn(lines, "\n");

		fprintf(stderr, "bpfprof: %.*s\n", (int)length, lines);
		lines += length + (lines[length] == '\n');
	}
}

bool input_has_this_kernel(const struct perfdata *data)
{
	const char *release = perfdata_header(data)->os_release;
	bool has_kernel = false;
	struct utsname here;
	u32 count;
	const struct event_source *sources = perfdata_sources(data, &count);

	for (u32 i = 0; i < count; i++)
		has_kernel |= !sources[i].exclude_kernel;
	return has_kernel && release && !uname(&here) && !strcmp(here.release, release);
}

bool input_is_from_elsewhere(const struct perfdata *data)
{
	const char *host = perfdata_header(data)->hostname;
	struct utsname here;

	return !host || uname(&here) || strcmp(here.nodename, host) != 0;
}

void input_print_warnings(const struct perfdata *data)
{
	input_print_lines(perfdata_warnings(data));
}
