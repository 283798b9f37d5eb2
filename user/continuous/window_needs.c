/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What readers of a window will have to know of its samples: threads, names, mappings.
 */
#include "continuous/window_state.h"

#include <string.h>

struct needed_piece window_piece(const struct window *window, u32 row)
{
	struct needed_piece piece;

	memcpy(&piece, intern_view(&window->needed_pieces, row), sizeof(piece));
	return piece;
}

struct mapping window_mapping(const struct window *window, const struct needed_piece *piece)
{
	struct mapping mapping = {
		.time_ns = piece->time_ns,
		.pid = piece->pid,
		.tid = piece->pid,
		.start = piece->start,
		.bytes = piece->end - piece->start,
		.file_offset = piece->file_offset,
	};

	seen_files_fill(&window->files, piece->file, &mapping);
	return mapping;
}

/* Lets whoever keeps names have a binary, once. */
static void tell_binary(struct window *window, const struct needed_piece *piece)
{
	struct file_state *state = seen_files_state(&window->files, piece->file);
	struct mapping mapping;

	if (state->is_told || state->is_overwritten || !window->settings.take_binary)
		return;
	mapping = window_mapping(window, piece);
	state->is_told = window->settings.take_binary(window->settings.context, &mapping);
}

/* Code that a process made has its names from the process alone. */
static void need_jit(struct window *window, const struct needed_piece *piece, u64 address)
{
	struct jit_place place = {.process = piece->process, .pid = piece->pid, .address = address};
	u32 *known = idmap_place(&window->jit_processes, piece->process);

	intern_bytes(&window->jit_places, &place, sizeof(place));
	if (!*known && window->settings.meet_jit)
		window->settings.meet_jit(window->settings.context, piece->pid);
	*known = 1;
}

static void need_user_address(struct window *window, u32 life, u64 address, u64 time_ns)
{
	const struct piece *piece = tasks_piece_at(window->tasks, life, address, time_ns);
	const struct task_life *task = tasks_life(window->tasks, life);
	struct needed_piece needed;
	u64 start_ns = tasks_process_start(window->tasks, life);
	u32 known = window->needed_pieces.count;

	if (!piece)
		return;
	needed = (struct needed_piece){
		/* what was inherited is there since the fork */
		.time_ns = piece->time_ns > start_ns ? piece->time_ns : start_ns,
		.start = piece->start,
		.end = piece->end,
		.file_offset = piece->file_offset,
		.pid = task->pid,
		.process = task->process,
		.file = piece->file,
	};
	if (intern_bytes(&window->needed_pieces, &needed, sizeof(needed)) > known)
		tell_binary(window, &needed);
	if (seen_files_state(&window->files, piece->file)->is_jit)
		need_jit(window, &needed, address);
}

static void need_address(struct window *window, u32 life, u64 address, u64 time_ns, u8 space)
{
	if (space == SPACE_KERNEL)
		kernel_pieces_need(&window->kernel, address, time_ns);
	else if (space == SPACE_USER)
		need_user_address(window, life, address, time_ns);
}

/* Notes what readers will have to know of the frames of a chain. Return addresses lie behind the
 * call, maybe behind the mapping's last byte. */
static void need_chain(struct window *window, const struct pending *sample, u32 life, u32 name)
{
	enum { UNNAMED_LIFE = 1u << 31 };
	/* Each exec has a name of its own, and what was mapped before is not mapped behind it. */
	u32 era = name ? name : UNNAMED_LIFE | life;
	u32 *place = idmap_place(&window->looked_up, (u64)era << 32 | sample->chain);
	struct chain_head head;
	const u8 *addresses;

	need_address(window, life, sample->address, sample->time_ns, sample->space);
	if (*place)
		return;
	*place = 1;
	head = window_chain(window, sample->chain, &addresses);
	for (u32 i = 0; i < head.count; i++) {
		u8 space = i < head.kernel_count ? SPACE_KERNEL : SPACE_USER;
		u64 address;

		memcpy(&address, addresses + i * sizeof(address), sizeof(address));
		need_address(window, life, i ? address - 1 : address, sample->time_ns, space);
	}
}

static void need_life(struct window *window, u32 life, u32 name)
{
	*idmap_place(&window->needed_lives, life) = 1;
	if (name)
		*idmap_place(&window->needed_names, name) = 1;
}

/* The thread of a sample, and its process's main thread. */
static u32 need_tasks(struct window *window, const struct pending *sample, u32 life)
{
	u32 name = tasks_name_at(window->tasks, life, sample->time_ns), leader;

	need_life(window, life, name);
	if (sample->pid == sample->tid)
		return name;
	leader = tasks_find(window->tasks, sample->pid, sample->pid, sample->time_ns);
	need_life(window, leader, tasks_name_at(window->tasks, leader, sample->time_ns));
	return name;
}

u32 window_need(struct window *window, const struct pending *sample, u32 life)
{
	u32 name = need_tasks(window, sample, life);

	need_chain(window, sample, life, name);
	return name;
}
