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

u64 window_place(const struct window *window, const struct needed_piece *piece)
{
	u64 place = seen_files_place(&window->files, piece->file, piece->file_offset,
				     piece->end - piece->start);

	return place ? place : piece->start;
}

/* An address of a sample, and how far behind the place that it means: return addresses lie behind
 * the call, maybe behind the mapping's last byte. */
struct code_address {
	u64 address, behind;
	u8 space;
};

/* Notes a piece that is needed, unless that was done just before. */
static const struct noted_piece *note_piece(struct window *window, const struct needed_piece *piece)
{
	u64 spread = (piece->start >> 12 ^ piece->process) * 0x9e3779b97f4a7c15ULL;
	struct noted_piece *noted = &window->noted[spread >> 32 & (NOTED_PIECES - 1)];
	u32 known = window->needed_pieces.count;

	if (!memcmp(&noted->piece, piece, sizeof(*piece)))
		return noted;
	if (intern_bytes(&window->needed_pieces, piece, sizeof(*piece)) > known)
		tell_binary(window, piece);
	*noted = (struct noted_piece){
		.piece = *piece,
		.place = window_place(window, piece),
		.is_jit = seen_files_state(&window->files, piece->file)->is_jit,
	};
	return noted;
}

/* Whose addresses are looked up, as of when; and what was found of the last one, which is true of
 * those around it, too: most frames lie in the same file as the one before. */
struct looking {
	u32 life;
	u64 time_ns;
	struct span around;
	u64 moved; /* to where addresses are told */
};

static struct needed_piece needed_piece_of(const struct window *window, u32 life,
					   const struct piece *piece)
{
	const struct task_life *task = tasks_life(window->tasks, life);
	u64 start_ns = tasks_process_start(window->tasks, life);

	return (struct needed_piece){
		/* what was inherited is there since the fork */
		.time_ns = piece->time_ns > start_ns ? piece->time_ns : start_ns,
		.start = piece->start,
		.end = piece->end,
		.file_offset = piece->file_offset,
		.pid = task->pid,
		.process = task->process,
		.file = piece->file,
	};
}

static void look(struct window *window, struct looking *looking, u64 address)
{
	const struct piece *piece = tasks_piece_at(window->tasks, looking->life, address,
						   looking->time_ns, &looking->around);
	const struct noted_piece *noted;
	struct needed_piece needed;

	looking->moved = 0;
	if (!piece)
		return;
	needed = needed_piece_of(window, looking->life, piece);
	noted = note_piece(window, &needed);
	looking->moved = noted->place - needed.start;
	if (!noted->is_jit)
		return;
	need_jit(window, &needed, address);
	looking->around = (struct span){0}; /* each address for itself */
}

/* Returns the address as it is told. */
static u64 need_user_address(struct window *window, struct looking *looking,
			     struct code_address code)
{
	u64 address = code.address - code.behind;

	if (address < looking->around.start || address >= looking->around.end)
		look(window, looking, address);
	return code.address + looking->moved;
}

static u64 need_address(struct window *window, struct looking *looking, struct code_address code)
{
	if (code.space == SPACE_USER)
		return need_user_address(window, looking, code);
	if (code.space == SPACE_KERNEL)
		return code.behind + kernel_pieces_need(&window->kernel, code.address - code.behind,
							looking->time_ns);
	return code.address;
}

/* Notes what readers will have to know of the frames of a chain. Returns it as it is told. */
static u32 need_chain(struct window *window, const struct pending *sample, struct looking *looking)
{
	u64 words[1 + CHAIN_MAX_FRAMES];
	struct chain_head head = {sample->frame_count, sample->kernel_count};
	size_t bytes = (1 + head.count) * sizeof(u64);
	u32 known = window->chains.count, chain;

	memcpy(words, &head, sizeof(head));
	for (u32 i = 0; i < head.count; i++)
		words[1 + i] = need_address(
			window, looking,
			(struct code_address){
				.address = window->pending_frames.items[sample->first_frame + i],
				.behind = i > 0,
				.space = i < head.kernel_count ? SPACE_KERNEL : SPACE_USER,
			});
	chain = intern_bytes(&window->chains, words, bytes);
	if (chain > known)
		window->chain_bytes += bytes;
	return chain;
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

struct needed window_need(struct window *window, const struct pending *sample, u32 life)
{
	struct code_address leaf = {.address = sample->address, .space = sample->space};
	struct looking looking = {.life = life, .time_ns = sample->time_ns};
	struct needed needed = {.name = need_tasks(window, sample, life)};

	needed.address = need_address(window, &looking, leaf);
	needed.chain = need_chain(window, sample, &looking);
	return needed;
}
