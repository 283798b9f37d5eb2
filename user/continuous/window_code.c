/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the samples of a window lie in files, for whoever keeps what is known of these places.
 *
 * An address is told at seen_files_place(), so it is one number that says the file and the offset,
 * whichever process it was of. Who called is told apart from where samples are and what the kernel
 * interrupted: a call's line is the one before the place where it returns to.
 */
#include "continuous/window_state.h"

#include <string.h>

enum { RETURNS = 1 }; /* in the lowest bit of a place */

struct gathering {
	const struct window *window;
	struct idmap known;
	VEC(u64) places;     /* addresses as they are told, times two, and RETURNS */
	struct idmap pieces; /* by file: the row of a needed piece */
};

static void add(struct gathering *gathering, u64 told, u64 returns)
{
	u64 place = told << 1 | returns, offset;
	u32 *known, file;

	if (!seen_files_at_place(&gathering->window->files, told, &file, &offset))
		return;
	known = idmap_place(&gathering->known, place);
	if (*known)
		return;
	*known = 1;
	*vec_add(&gathering->places) = place;
}

static void add_chain(struct gathering *gathering, u32 row)
{
	const u8 *addresses;
	struct chain_head chain = window_chain(gathering->window, row, &addresses);

	for (u32 i = chain.kernel_count; i < chain.count; i++) {
		u64 address;

		memcpy(&address, addresses + i * sizeof(u64), sizeof(address));
		add(gathering, address, i > chain.kernel_count ? RETURNS : 0);
	}
}

static void add_all(struct gathering *gathering)
{
	const struct window *window = gathering->window;

	for (u32 row = 1; row <= window->keys.count; row++) {
		struct sum_key key;

		memcpy(&key, intern_view(&window->keys, row), sizeof(key));
		add(gathering, key.address, 0);
	}
	for (u32 row = 1; row <= window->chains.count; row++)
		add_chain(gathering, row);
}

static bool lives(const struct window *window, const struct needed_piece *piece)
{
	u32 life = tasks_find(window->tasks, piece->pid, piece->pid, window->end_ns);

	return tasks_life(window->tasks, life)->process == piece->process &&
	       !tasks_life(window->tasks, life)->end_ns;
}

/* Of each file the newest mapping, and of a process that lives rather. */
static void choose_pieces(struct gathering *gathering)
{
	const struct window *window = gathering->window;

	for (u32 row = 1; row <= window->needed_pieces.count; row++) {
		struct needed_piece piece = window_piece(window, row);
		u32 *chosen = idmap_place(&gathering->pieces, piece.file);

		if (!*chosen || lives(window, &piece))
			*chosen = row;
	}
}

/* Tells of the places of one file, which become file offsets. */
static void tell(const struct gathering *gathering, u32 file, u64 *places, size_t count)
{
	const struct window *window = gathering->window;
	struct sampled_code code = {.count = count, .places = places};
	u32 row = idmap_get(&gathering->pieces, file);
	struct needed_piece piece;
	struct mapping mapping;

	if (!row || window->files.states.items[file - 1].is_overwritten)
		return;
	piece = window_piece(window, row);
	mapping = window_mapping(window, &piece);
	if (!mapping.build_id_bytes)
		return;
	for (size_t i = 0; i < count; i++) {
		u64 offset = 0;

		(void)seen_files_at_place(&window->files, places[i] >> 1, &file, &offset);
		places[i] = offset << 1 | (places[i] & RETURNS);
	}
	code.binary = &mapping;
	window->settings.take_code(window->settings.context, &code);
}

static int compare(const void *left, const void *right)
{
	const u64 *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static u32 file_of(const struct gathering *gathering, u64 place)
{
	u64 offset;
	u32 file = 0;

	(void)seen_files_at_place(&gathering->window->files, place >> 1, &file, &offset);
	return file;
}

/* In order those of one file stand together. */
static void tell_all(struct gathering *gathering)
{
	u64 *places = gathering->places.items;
	size_t count = gathering->places.count, first = 0;

	if (count)
		qsort(places, count, sizeof(*places), compare);
	while (first < count) {
		u32 file = file_of(gathering, places[first]);
		size_t end = first + 1;

		while (end < count && file_of(gathering, places[end]) == file)
			end++;
		tell(gathering, file, places + first, end - first);
		first = end;
	}
}

void window_tell_code(const struct window *window)
{
	struct gathering gathering = {.window = window};

	if (!window->settings.take_code)
		return;
	add_all(&gathering);
	choose_pieces(&gathering);
	tell_all(&gathering);
	idmap_release(&gathering.known);
	idmap_release(&gathering.pieces);
	vec_release(&gathering.places);
}
