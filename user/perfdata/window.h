/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading a mapped file without keeping all of it in memory: what lies well behind is forgotten.
 *
 * Only a matter of memory: what is wanted again after all is there again. Private to the folder.
 */
#ifndef PERFDATA_WINDOW_H
#define PERFDATA_WINDOW_H

#include "base/file.h"

struct window {
	struct bytes mapped; /* nothing: nothing is forgotten */
	size_t forgotten;    /* bytes from its start */
	size_t brought;	     /* the same: they were there already, or are on their way */
};

/* Reading has come to `at`, which need not lie in the window: then nothing happens. */
static inline void window_move(struct window *window, const u8 *at)
{
	enum { KEPT_BYTES = 4 << 20 };
	size_t come = (size_t)(at - window->mapped.start);

	if (at < window->mapped.start || come > window->mapped.length)
		return;
	/* Back again, after an early event that stands far behind. */
	if (come < window->forgotten)
		window->forgotten = come;
	if (come < window->forgotten + 2 * (size_t)KEPT_BYTES)
		return;
	file_forget((struct bytes){window->mapped.start + window->forgotten,
				   come - KEPT_BYTES - window->forgotten});
	window->forgotten = come - KEPT_BYTES;
}

/* Makes the bytes there that come behind `at`, `most` of them, unless that was done before. */
static inline void window_bring(struct window *window, const u8 *at, size_t most)
{
	size_t from = (size_t)(at - window->mapped.start), to;

	if (at < window->mapped.start || from > window->mapped.length)
		return;
	to = window->mapped.length - from < most ? window->mapped.length : from + most;
	if (from < window->brought)
		from = window->brought;
	if (to <= from)
		return;
	file_bring((struct bytes){window->mapped.start + from, to - from});
	window->brought = to;
}

#endif
