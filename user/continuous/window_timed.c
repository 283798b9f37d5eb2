/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Of which processes a window has to tell when something happened.
 *
 * Of most it need not: all samples of a process came under one name, and what it had mapped does
 * not contradict itself. That may be told as if it had been so before the window, as what really
 * was is told: a moment for each record is half of what records about short-lived processes take.
 */
#include "continuous/window_state.h"

static bool is_needed(const struct window *window, u32 life)
{
	return idmap_get(&window->needed_lives, life);
}

static bool has_several_names(const struct window *window, const struct task_life *task)
{
	u32 needed = 0;

	for (u32 name = task->name; name; name = tasks_name(window->tasks, name)->previous)
		needed += idmap_get(&window->needed_names, name) > 0;
	return needed > 1;
}

/* A thread that has several names, or an id that two threads had. */
static void find_timed_life(const struct window *window, u32 life, struct idmap *timed)
{
	const struct task_life *task = tasks_life(window->tasks, life);

	if (has_several_names(window, task))
		*idmap_place(timed, task->pid) = 1;
	for (u32 other = task->previous; other;) {
		const struct task_life *before = tasks_life(window->tasks, other);

		if (is_needed(window, other)) {
			*idmap_place(timed, task->pid) = 1;
			*idmap_place(timed, before->pid) = 1;
		}
		other = before->previous;
	}
}

static int compare_pieces(const void *left, const void *right)
{
	const struct needed_piece *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* Pieces that have no place by themselves may cover each other. */
static void find_timed_pieces(const struct window *window, struct idmap *timed)
{
	VEC(struct needed_piece) pieces = {0};
	u64 end = 0;

	for (u32 row = 1; row <= window->needed_pieces.count; row++) {
		struct needed_piece piece = window_piece(window, row);

		if (window_place(window, &piece) == piece.start)
			*vec_add(&pieces) = piece;
	}
	if (pieces.count)
		qsort(pieces.items, pieces.count, sizeof(*pieces.items), compare_pieces);
	for (size_t i = 0; i < pieces.count; i++) {
		const struct needed_piece *piece = &pieces.items[i];
		bool is_first = i == 0 || piece[-1].pid != piece->pid;

		if (!is_first && piece->start < end)
			*idmap_place(timed, piece->pid) = 1;
		end = is_first || piece->end > end ? piece->end : end;
	}
	vec_release(&pieces);
}

void window_find_timed(const struct window *window, struct idmap *ret_timed)
{
	const struct idmap *lives = &window->needed_lives;

	*ret_timed = (struct idmap){0};
	for (size_t i = 0; i < lives->capacity; i++)
		if (lives->slots[i].value)
			find_timed_life(window, (u32)lives->slots[i].key, ret_timed);
	find_timed_pieces(window, ret_timed);
}
