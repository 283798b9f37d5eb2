/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many windows into one profile: piece by piece, on all CPUs.
 *
 * A piece is the windows that are summed together (STORE_SUMS_NS): whatever was asked for, and
 * whether there are sums or not, the pieces are the same, and so is the result. Where there are
 * none, a piece has one builder, which goes on knowing processes and stacks from window to window
 * (continuous/joint.h), so that the cost is that of distinct stacks, and a look for each sample.
 */
#include "cmd/windows_read.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "cmd/stitching.h"
#include "cmd/unwinding.h"
#include "cmd/windows_sums.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* What all pieces share. */
struct summing {
	struct asked_windows *windows;
	const struct windows_reading *how;
	bool begins_with_sums;
	VEC(struct piece *) pieces;
	pthread_t shower; /* the thread that shows progress */
	atomic_size_t done;
	pthread_mutex_t mutex; /* of all below */
	size_t merged;	       /* pieces that were put together so far, in their order */
	struct profile *profile;
	int error;
	char *sentence; /* owned; of the first error */
};

struct piece {
	struct summing *summing;
	struct windows_run run;
	bool is_read;
	struct profile_builder *builder; /* NULL: none yet */
	struct event_sink *filter;
	struct joint *joint;
	struct perfdata *data;		  /* the window that is read */
	VEC(struct event_source) sources; /* that the builder was made with; names owned */
	VEC(struct profile *) profiles;
};

int windows_can_be_summed(const struct perfdata *data)
{
	u32 count;
	const struct event_source *sources = perfdata_sources(data, &count);

	for (u32 i = 0; i < count; i++)
		if (sources[i].has_branches)
			return fail_plain(-EINVAL, "name one window with -i",
					  "the windows have branch stacks, which are looked at one "
					  "recording at a time");
	if (unwinding_is_needed(data))
		return fail_plain(-EINVAL, "name one window with -i",
				  "the windows have copied stacks, which are walked one recording "
				  "at a time");
	return 0;
}

int windows_open_first(const struct asked_windows *windows,
		       int (*open)(const char *path, struct perfdata **ret_data),
		       struct perfdata **ret_data, const char **ret_path)
{
	int error = -ENODATA;

	for (size_t i = 0; error && i < windows->windows.count; i++) {
		*ret_path = windows->windows.items[i].path;
		error = open(*ret_path, ret_data);
	}
	if (!error)
		fail_clear(); /* one before it may have said why it is passed over */
	return error;
}

int windows_check_choice(const struct asked_windows *windows, const struct sample_choice *choice)
{
	CLEANUP(perfdata_closep) struct perfdata *data = NULL;
	size_t count = windows->windows.count;
	int error = -ENODATA;

	if (!count || !cgroup_choice_is_made(&choice->cgroups))
		return 0;
	for (size_t i = count; error && i; i--)
		error = perfdata_open_window(windows->windows.items[i - 1].path, &data);
	return error ? error : sample_choice_check(choice, data);
}

/* --- one window --- */

static void read_details(void *context, const struct sample *sample, struct detail_row *details)
{
	const struct piece *piece = context;

	piece->summing->how->builder->details.read(piece->data, sample, details);
}

static bool has_same_sources(const struct piece *piece)
{
	u32 count;
	const struct event_source *sources = perfdata_sources(piece->data, &count);

	if (!piece->builder || count != piece->sources.count)
		return false;
	for (u32 i = 0; i < count; i++) {
		const struct event_source *mine = &piece->sources.items[i];

		if (sources[i].type != mine->type || sources[i].config != mine->config ||
		    sources[i].has_chain != mine->has_chain ||
		    strcmp(sources[i].name, mine->name) != 0)
			return false;
	}
	return true;
}

static void end_builder(struct piece *piece)
{
	if (!piece->builder)
		return;
	*vec_add(&piece->profiles) = profile_builder_take(piece->builder);
	joint_free(piece->joint);
	filter_free(piece->filter);
	profile_builder_free(piece->builder);
	piece->builder = NULL;
	for (size_t i = 0; i < piece->sources.count; i++)
		free((char *)piece->sources.items[i].name);
	piece->sources.count = 0;
}

static void begin_builder(struct piece *piece)
{
	const struct windows_reading *how = piece->summing->how;
	struct builder_settings settings = *how->builder;
	u32 count;
	const struct event_source *sources = perfdata_sources(piece->data, &count);

	settings.names = (struct name_test){0};
	if (settings.details.read) {
		settings.details.read = read_details;
		settings.details.context = piece;
	}
	piece->builder = profile_builder_new(&settings, sources, count);
	piece->filter = filter_new(how->filter, profile_builder_sink(piece->builder));
	piece->joint = joint_new(piece->filter);
	for (u32 i = 0; i < count; i++) {
		struct event_source *copy = vec_add(&piece->sources);

		*copy = sources[i];
		copy->name = must_copy(sources[i].name);
	}
}

static void note_damage(struct piece *piece, int error)
{
	struct summing *summing = piece->summing;

	pthread_mutex_lock(&summing->mutex);
	summing->windows->damaged++;
	if (!summing->error) {
		summing->error = error;
		summing->sentence = must_copy(fail_sentence());
	}
	pthread_mutex_unlock(&summing->mutex);
}

static void read_window(struct piece *piece, const struct asked_window *window)
{
	const struct perfdata_header *header;
	int error = perfdata_open_window(window->path, &piece->data);

	if (error) {
		note_damage(piece, error);
		return;
	}
	if (!has_same_sources(piece)) {
		end_builder(piece);
		begin_builder(piece);
	}
	header = perfdata_header(piece->data);
	joint_set_clock(piece->joint,
			header->has_clock ? header->wall_clock_ns - header->clock_ns : 0);
	if (piece->summing->how->by_window)
		joint_set_moment(piece->joint, window->facts.start_ns);
	error = perfdata_read(piece->data, joint_sink(piece->joint));
	if (error)
		note_damage(piece, error);
	perfdata_close(piece->data);
	piece->data = NULL;
}

/* --- a piece --- */

static void show(struct summing *summing, size_t windows)
{
	size_t done = atomic_fetch_add(&summing->done, windows) + windows;

	if (summing->how->shows_progress && pthread_equal(pthread_self(), summing->shower))
		progress_show("reading windows", done, summing->windows->windows.count);
}

static bool goes_on(const struct windows_reading *how)
{
	return !how->goes_on || how->goes_on(how->context);
}

static void read_windows(struct piece *piece)
{
	struct summing *summing = piece->summing;

	for (size_t i = 0; i < piece->run.count && goes_on(summing->how); i++) {
		read_window(piece, &piece->run.windows[i]);
		show(summing, 1);
	}
	end_builder(piece);
	vec_release(&piece->sources);
}

static void put_together(struct summing *summing, struct piece *piece)
{
	for (size_t i = 0; i < piece->profiles.count; i++) {
		struct profile *profile = piece->profiles.items[i];

		profile_merge(summing->profile, profile);
		profile_free(profile);
	}
	vec_release(&piece->profiles);
	free(piece);
}

/* Takes in what is there, in the order of time. */
static void take_ready(struct summing *summing, struct piece *read)
{
	pthread_mutex_lock(&summing->mutex);
	read->is_read = true;
	while (summing->merged < summing->pieces.count &&
	       summing->pieces.items[summing->merged]->is_read)
		put_together(summing, summing->pieces.items[summing->merged++]);
	pthread_mutex_unlock(&summing->mutex);
}

static void read_piece(void *context, size_t index)
{
	struct summing *summing = context;
	struct piece *piece = summing->pieces.items[index];
	struct profile *sums;

	if (summing->begins_with_sums && !windows_sums_read(&piece->run, &sums)) {
		if (summing->how->builder->skip_chains)
			profile_keep_leaves(sums);
		*vec_add(&piece->profiles) = sums;
		show(summing, piece->run.count);
	} else {
		read_windows(piece);
	}
	take_ready(summing, piece);
}

/* --- all --- */

static void cut_into_pieces(struct summing *summing)
{
	const struct asked_windows *windows = summing->windows;
	struct piece *piece = NULL;
	u64 start_ns = 0;

	for (size_t i = 0; i < windows->windows.count; i++) {
		const struct asked_window *window = &windows->windows.items[i];

		if (!piece || store_sums_start(window->facts.start_ns) != start_ns) {
			start_ns = store_sums_start(window->facts.start_ns);
			piece = *vec_add(&summing->pieces) = must_alloc(sizeof(*piece));
			piece->summing = summing;
			piece->run = (struct windows_run){windows->directory, window, 0};
		}
		piece->run.count++;
	}
}

int windows_read(struct asked_windows *windows, struct windows_reading how,
		 struct profile **ret_profile)
{
	struct summing summing = {
		.windows = windows,
		.how = &how,
		.begins_with_sums = windows_sums_do(how.builder, how.filter),
		.shower = pthread_self(),
		.mutex = PTHREAD_MUTEX_INITIALIZER,
		.profile = profile_new(),
	};
	struct profile *profile = summing.profile;
	int error = 0;

	cut_into_pieces(&summing);
	parallel_run(summing.pieces.count, read_piece, &summing);
	vec_release(&summing.pieces);
	if (!profile->sources.count) {
		error = summing.error ? fail_plain(summing.error, NULL, "%s", summing.sentence)
				      : -ECANCELED;
		profile_free(profile);
	}
	free(summing.sentence);
	if (error)
		return error;
	/* Whatever a sample stands for, it is known in which window it was. */
	for (size_t i = 0; how.by_window && i < profile->sources.count; i++)
		profile->sources.items[i].is_counted = false;
	*ret_profile = profile;
	return 0;
}
