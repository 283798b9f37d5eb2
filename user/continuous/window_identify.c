/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the binaries of a window are, beyond what their mappings said.
 *
 * A file that somebody writes into while it is mapped changes under its processes: the build id
 * that the mapping was told with names other code. Such a piece is told with a build id that
 * nothing has, so that it has no names rather than wrong ones.
 *
 * Code that a process made has no identity at all. What its names are kept under is told as its
 * build id, so that they are found as those of any binary.
 */
#include "continuous/window_state.h"

#include <string.h>

/* --- files that were written into --- */

/* Any process that lives can tell; the newest probably do. */
static void check_file(struct window *window, u32 row)
{
	enum { TRIES_MAX = 8 };
	struct needed_piece piece = window_piece(window, row);
	struct file_state *state = seen_files_state(&window->files, piece.file);
	struct mapping mapping = window_mapping(window, &piece);
	int is_overwritten;

	if (!mapping.build_id_bytes || mapping.path[0] != '/' || state->tries >= TRIES_MAX)
		return;
	state->tries++;
	is_overwritten = window->settings.is_overwritten(window->settings.file_context, &mapping,
							 &state->checked);
	if (is_overwritten < 0)
		return;
	state->is_overwritten = is_overwritten;
	state->tries = TRIES_MAX;
}

static void check_files(struct window *window)
{
	for (u32 row = window->needed_pieces.count; row > 0; row--)
		seen_files_state(&window->files, window_piece(window, row).file)->tries = 0;
	for (u32 row = window->needed_pieces.count; row > 0; row--)
		check_file(window, row);
}

/* --- code that processes made --- */

static struct jit_place jit_place_of(const struct window *window, u32 row)
{
	struct jit_place place;

	memcpy(&place, intern_view(&window->jit_places, row), sizeof(place));
	return place;
}

static int compare_places(const void *left, const void *right)
{
	const struct jit_place *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* Those of one process, which stand together. */
static void identify_jit(struct window *window, const struct jit_place *places, size_t count)
{
	struct jit_id found = {.process = places->process};
	VEC(u64) addresses = {0};

	for (size_t i = 0; i < count; i++)
		*vec_add(&addresses) = places[i].address;
	if (window->settings.take_jit(window->settings.context,
				      &(struct jit_addresses){.pid = places->pid,
							      .count = count,
							      .items = addresses.items},
				      &found.id))
		*vec_add(&window->jit_ids) = found;
	vec_release(&addresses);
}

static void identify_jits(struct window *window)
{
	VEC(struct jit_place) places = {0};
	size_t from = 0;

	for (u32 row = 1; row <= window->jit_places.count; row++)
		*vec_add(&places) = jit_place_of(window, row);
	if (places.count)
		qsort(places.items, places.count, sizeof(*places.items), compare_places);
	for (size_t i = 1; i <= places.count; i++) {
		if (i < places.count && places.items[i].process == places.items[from].process)
			continue;
		identify_jit(window, &places.items[from], i - from);
		from = i;
	}
	vec_release(&places);
}

static int compare_ids(const void *left, const void *right)
{
	const struct jit_id *a = left, *b = right;

	return a->process < b->process ? -1 : a->process > b->process;
}

void window_identify(struct window *window)
{
	if (window->settings.is_overwritten)
		check_files(window);
	window->jit_ids.count = 0;
	if (window->settings.take_jit)
		identify_jits(window);
}

/* --- telling it --- */

void window_fill_id(const struct window *window, const struct needed_piece *piece,
		    struct mapping *mapping)
{
	const struct file_state *state = &window->files.states.items[piece->file - 1];
	const struct jit_id *found = NULL;

	if (state->is_overwritten)
		for (size_t i = 0; i < mapping->build_id_bytes; i++)
			mapping->build_id[i] ^= 0xff;
	if (state->is_jit && window->jit_ids.count)
		found = bsearch(&(struct jit_id){.process = piece->process}, window->jit_ids.items,
				window->jit_ids.count, sizeof(*found), compare_ids);
	if (!found)
		return;
	mapping->build_id_bytes = found->id.length;
	memcpy(mapping->build_id, found->id.bytes, found->id.length);
}
