/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many windows into one profile: pieces of windows that follow each other, one thread each.
 *
 * Within a piece there is one builder, which goes on knowing processes and stacks from window to
 * window (continuous/joint.h); the pieces are merged in the end. So the cost is that of distinct
 * stacks, and a look for each sample.
 */
#include "cmd/windows_read.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "cmd/stitching.h"
#include "cmd/unwinding.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { LEAST_WINDOWS = 8 }; /* of a piece: each begins without knowing anything */

/* What all pieces share. */
struct summing {
	struct asked_windows *windows;
	const struct windows_reading *how;
	size_t piece_count;
	struct piece *pieces;
	pthread_t shower; /* the thread that shows progress */
	atomic_size_t done;
};

struct piece {
	struct summing *summing;
	struct profile_builder *builder; /* NULL: none yet */
	struct event_sink *filter;
	struct joint *joint;
	struct perfdata *data;		  /* the window that is read */
	VEC(struct event_source) sources; /* that the builder was made with; names owned */
	VEC(struct profile *) profiles;
	u64 damaged;
	int error;
	char *sentence; /* owned; of the first error */
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

int windows_check_choice(const struct asked_windows *windows, const struct sample_choice *choice)
{
	CLEANUP(perfdata_closep) struct perfdata *data = NULL;
	size_t count = windows->windows.count;
	int error;

	if (!count || !cgroup_choice_is_made(&choice->cgroups))
		return 0;
	error = perfdata_open(windows->windows.items[count - 1].path, &data);
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
	piece->damaged++;
	if (piece->error)
		return;
	piece->error = error;
	piece->sentence = must_copy(fail_sentence());
}

static void read_window(struct piece *piece, const struct asked_window *window)
{
	const struct perfdata_header *header;
	int error = perfdata_open(window->path, &piece->data);

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

static void show(struct summing *summing)
{
	size_t done = atomic_fetch_add(&summing->done, 1) + 1;

	if (summing->how->shows_progress && pthread_equal(pthread_self(), summing->shower))
		progress_show("reading windows", done, summing->windows->windows.count);
}

static void read_piece(void *context, size_t index)
{
	struct summing *summing = context;
	struct piece *piece = &summing->pieces[index];
	size_t count = summing->windows->windows.count;

	piece->summing = summing;
	for (size_t i = count * index / summing->piece_count;
	     i < count * (index + 1) / summing->piece_count; i++) {
		read_window(piece, &summing->windows->windows.items[i]);
		show(summing);
	}
	end_builder(piece);
	vec_release(&piece->sources);
}

/* One for each thread, but none for a few windows only. */
static size_t choose_pieces(size_t windows)
{
	size_t pieces = parallel_width(), most = windows / LEAST_WINDOWS;

	if (pieces > most)
		pieces = most;
	return pieces ? pieces : 1;
}

/* --- all --- */

static void take_profiles(struct piece *piece, struct profile **profile)
{
	for (size_t i = 0; i < piece->profiles.count; i++) {
		if (!*profile) {
			*profile = piece->profiles.items[i];
			continue;
		}
		profile_merge(*profile, piece->profiles.items[i]);
		profile_free(piece->profiles.items[i]);
	}
	vec_release(&piece->profiles);
}

int windows_read(struct asked_windows *windows, struct windows_reading how,
		 struct profile **ret_profile)
{
	struct summing summing = {
		.windows = windows,
		.how = &how,
		.piece_count = choose_pieces(windows->windows.count),
		.shower = pthread_self(),
	};
	struct profile *profile = NULL;
	int error = 0;

	summing.pieces = must_alloc_array(summing.piece_count, sizeof(*summing.pieces));
	parallel_run(summing.piece_count, read_piece, &summing);
	for (size_t i = 0; i < summing.piece_count; i++) {
		struct piece *piece = &summing.pieces[i];

		take_profiles(piece, &profile);
		windows->damaged += piece->damaged;
		if (piece->error && !error)
			error = fail_plain(piece->error, NULL, "%s", piece->sentence);
		free(piece->sentence);
	}
	free(summing.pieces);
	if (!profile)
		return error;
	/* Whatever a sample stands for, it is known in which window it was. */
	for (size_t i = 0; how.by_window && i < profile->sources.count; i++)
		profile->sources.items[i].is_counted = false;
	*ret_profile = profile;
	return 0;
}
