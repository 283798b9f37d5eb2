/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recordings of a diff: opened, filtered each by itself, and read into one profile.
 */
#include "cmd/diff_settings.h"

#include "base/fail.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>

/* What --time says of one file, owned by the caller: "FIRST:SECOND", or the same for all. */
static int times_of(const char *times, u32 file, char **ret_times)
{
	const char *part = times;

	*ret_times = NULL;
	for (u32 i = 0; part && strchr(times, ':') && i < file; i++) {
		part = strchr(part, ':');
		if (part)
			part++;
	}
	if (times && !part)
		return fail_plain(-EINVAL, "part them by \":\", one for each recording",
				  "--time '%s' says nothing of recording %u", times, file + 1);
	if (part && *part != ':' && *part)
		*ret_times = must_format("%.*s", (int)strcspn(part, ":"), part);
	return 0;
}

static int choose_samples(struct diff_file *file, u32 number, const struct sample_choice *choice)
{
	const struct perfdata_header *header = perfdata_header(file->data);
	struct sample_choice own = *choice;
	CLEANUP(freep) char *times = NULL;
	int error = times_of(choice->times, number, &times);

	if (error)
		return error;
	own.times = times;
	return sample_choice_read(&own, header->first_sample_ns, header->last_sample_ns,
				  &file->chosen);
}

/* As perf, rather than to show nothing. */
static int check_cpus(const struct diff_file *file)
{
	u32 count;
	const struct event_source *sources = perfdata_sources(file->data, &count);

	for (u32 i = 0; i < count && file->chosen.settings.cpu_count; i++)
		if (!sources[i].has_cpu)
			return fail_plain(-EINVAL, "leave --cpu out, or record with -a",
					  "%s: samples of '%s' do not say on which CPU they were "
					  "taken",
					  file->path, sources[i].name);
	return 0;
}

int diff_files_open(struct diff_file *files, u32 count, const struct diff_settings *settings)
{
	int error = 0;

	for (u32 i = 0; !error && i < count; i++) {
		error = perfdata_open(files[i].path, &files[i].data);
		if (!error)
			error = choose_samples(&files[i], i, &settings->choice);
		if (!error)
			error = check_cpus(&files[i]);
	}
	return error;
}

void diff_files_close(struct diff_file *files, u32 count)
{
	for (u32 i = 0; i < count; i++) {
		chosen_samples_release(&files[i].chosen);
		perfdata_close(files[i].data);
		files[i].data = NULL;
	}
}

/* Whose a sample is decides over its lines, later: 100% are all samples. */
static int read_file(struct diff_file *file, struct event_sink *sink)
{
	struct filter_settings settings = file->chosen.settings;
	struct event_sink *filter;
	int error;

	settings.pid_count = settings.tid_count = 0;
	filter = filter_new(&settings, sink);
	error = perfdata_read(file->data, filter);
	filter_free(filter);
	return error;
}

int diff_files_read(struct diff_file *files, u32 count, u32 keep, struct profile **ret_profile)
{
	struct builder_settings settings = {.keep = keep, .skip_chains = true};
	struct profile_builder *builder = NULL;
	u32 source_count = 0;
	int error = 0;

	for (u32 i = 0; i < count && !error; i++) {
		const struct event_source *sources = perfdata_sources(files[i].data,
								      &files[i].source_count);

		if (builder)
			profile_builder_next(builder, sources, files[i].source_count);
		else
			builder = profile_builder_new(&settings, sources, files[i].source_count);
		files[i].first_source = source_count;
		source_count += files[i].source_count;
		error = read_file(&files[i], profile_builder_sink(builder));
	}
	*ret_profile = profile_builder_take(builder);
	profile_builder_free(builder);
	return error;
}
