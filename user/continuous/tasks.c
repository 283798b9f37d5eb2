/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads and processes as chains of lives by id, newest first; mappings as shared logs.
 */
#include "continuous/tasks.h"

#include "base/idmap.h"

#include <string.h>

/* What a process had mapped between two execs. */
struct era {
	u64 from_ns;
	u32 previous; /* 0: none before */
	struct image_view view;
};

struct process {
	u32 pid, era; /* era: its newest */
	u32 previous; /* process of the same pid, 0: none is known */
	u64 start_ns;
	u32 next_row; /* for tasks_turn() */
};

struct tasks {
	struct seen_files *files;
	struct idmap life_of, process_of; /* tid → newest life, pid → newest process */
	/* row 0 of each is unused */
	VEC(struct task_life) lives;
	VEC(struct task_name) names;
	VEC(struct process) processes;
	VEC(struct era) eras;
	u32 marks;  /* given to images so far */
	u64 pieces; /* about so many, in all images */
};

static void add_zero_rows(struct tasks *tasks)
{
	*vec_add(&tasks->lives) = (struct task_life){0};
	*vec_add(&tasks->names) = (struct task_name){0};
	*vec_add(&tasks->processes) = (struct process){0};
	*vec_add(&tasks->eras) = (struct era){0};
}

struct tasks *tasks_new(struct seen_files *files)
{
	struct tasks *tasks = must_alloc(sizeof(*tasks));

	tasks->files = files;
	add_zero_rows(tasks);
	return tasks;
}

/* Frees the tables. */
static void release(struct tasks *tasks)
{
	for (size_t i = 0; i < tasks->eras.count; i++)
		image_drop(&tasks->eras.items[i].view);
	vec_release(&tasks->lives);
	vec_release(&tasks->names);
	vec_release(&tasks->processes);
	vec_release(&tasks->eras);
	idmap_release(&tasks->life_of);
	idmap_release(&tasks->process_of);
}

void tasks_free(struct tasks *tasks)
{
	if (!tasks)
		return;
	release(tasks);
	free(tasks);
}

/* --- what happens -------------------------------------------------------------------------------
 */

static struct process *process_row(const struct tasks *tasks, u32 row)
{
	return &tasks->processes.items[row];
}

static u32 add_era(struct tasks *tasks, u32 previous, u64 from_ns, struct image_view view)
{
	*vec_add(&tasks->eras) = (struct era){
		.from_ns = from_ns,
		.previous = previous,
		.view = view,
	};
	return (u32)tasks->eras.count - 1;
}

static u32 add_process(struct tasks *tasks, u32 pid, u64 start_ns, struct image_view view)
{
	u32 era = add_era(tasks, 0, start_ns, view);
	u32 *place = idmap_place(&tasks->process_of, pid);

	*vec_add(&tasks->processes) = (struct process){
		.pid = pid,
		.era = era,
		.previous = *place,
		.start_ns = start_ns,
	};
	*place = (u32)tasks->processes.count - 1;
	return *place;
}

static u32 process_made(struct tasks *tasks, u32 pid)
{
	u32 row = idmap_get(&tasks->process_of, pid);

	return row ? row : add_process(tasks, pid, 0, (struct image_view){0});
}

static u32 add_name(struct tasks *tasks, u32 previous, u64 time_ns, const char *text)
{
	struct task_name *name = vec_add(&tasks->names);

	*name = (struct task_name){.time_ns = time_ns, .previous = previous};
	memcpy(name->text, text, strnlen(text, TASK_NAME_BYTES - 1));
	return (u32)tasks->names.count - 1;
}

/* A new life, in front of others of that tid. */
static u32 add_life(struct tasks *tasks, const struct task_life *life)
{
	u32 *place = idmap_place(&tasks->life_of, life->tid);
	struct task_life *row = vec_add(&tasks->lives);

	*row = *life;
	row->previous = *place;
	if (*place && !tasks->lives.items[*place].end_ns)
		tasks->lives.items[*place].end_ns = life->start_ns ? life->start_ns : 1;
	*place = (u32)tasks->lives.count - 1;
	return *place;
}

static u32 life_made(struct tasks *tasks, u32 pid, u32 tid)
{
	u32 row = idmap_get(&tasks->life_of, tid);

	if (row && tasks->lives.items[row].pid == pid)
		return row;
	return add_life(tasks, &(struct task_life){
				       .pid = pid,
				       .tid = tid,
				       .parent_pid = tid == pid ? 0 : pid,
				       .parent_tid = tid == pid ? 0 : pid,
				       .process = process_made(tasks, pid),
			       });
}

/* What a process that is forked begins with. */
static struct image_view inherited(const struct tasks *tasks, const struct thread_life *life)
{
	u32 parent = idmap_get(&tasks->process_of, life->parent_pid);

	if (life->is_synthesized || !parent)
		return (struct image_view){0};
	return image_share(tasks->eras.items[process_row(tasks, parent)->era].view);
}

void tasks_fork(struct tasks *tasks, const struct thread_life *life)
{
	u32 parent = life->is_synthesized ? 0 : idmap_get(&tasks->life_of, life->parent_tid);
	u32 name = parent ? tasks->lives.items[parent].name : 0;
	struct task_life row = {
		.pid = life->pid,
		.tid = life->tid,
		.parent_pid = life->parent_pid,
		.parent_tid = life->parent_tid,
		.start_ns = life->time_ns,
	};

	if (life->pid != life->tid)
		row.process = process_made(tasks, life->pid);
	else
		row.process = add_process(tasks, life->pid, life->time_ns, inherited(tasks, life));
	if (name) {
		char text[TASK_NAME_BYTES];

		memcpy(text, tasks->names.items[name].text, sizeof(text));
		row.name = add_name(tasks, 0, life->time_ns, text);
	}
	add_life(tasks, &row);
}

void tasks_exit(struct tasks *tasks, const struct thread_life *life)
{
	u32 row = idmap_get(&tasks->life_of, life->tid);

	if (row && tasks->lives.items[row].pid == life->pid)
		tasks->lives.items[row].end_ns = life->time_ns ? life->time_ns : 1;
}

void tasks_rename(struct tasks *tasks, const struct thread_name *name)
{
	u32 row = life_made(tasks, name->pid, name->tid);
	struct task_life *life = &tasks->lives.items[row];
	struct process *process = process_row(tasks, life->process);

	life->name = add_name(tasks, life->name, name->time_ns, name->name);
	tasks->names.items[life->name].is_exec = name->is_exec;
	if (name->is_exec)
		process->era = add_era(tasks, process->era, name->time_ns, (struct image_view){0});
}

void tasks_map(struct tasks *tasks, const struct mapping *mapping)
{
	struct process *process = process_row(tasks, process_made(tasks, mapping->pid));
	struct piece piece = {
		.time_ns = mapping->time_ns,
		.start = mapping->start,
		.end = mapping->start + mapping->bytes,
		.file_offset = mapping->file_offset,
	};

	if (piece.end <= piece.start)
		return;
	piece.file = seen_files_add(tasks->files, mapping);
	image_add(&tasks->eras.items[process->era].view, &piece);
	tasks->pieces++;
}

/* --- looking up ---------------------------------------------------------------------------------
 */

u32 tasks_find(struct tasks *tasks, u32 pid, u32 tid, u64 time_ns)
{
	u32 row = idmap_get(&tasks->life_of, tid);

	while (row) {
		const struct task_life *life = &tasks->lives.items[row];

		if (life->pid == pid && life->start_ns <= time_ns)
			return row;
		row = life->previous;
	}
	return life_made(tasks, pid, tid);
}

const struct task_life *tasks_life(const struct tasks *tasks, u32 life)
{
	return &tasks->lives.items[life];
}

u32 tasks_name_at(const struct tasks *tasks, u32 life, u64 time_ns)
{
	u32 name = tasks->lives.items[life].name;

	while (name && tasks->names.items[name].time_ns > time_ns)
		name = tasks->names.items[name].previous;
	return name;
}

const struct task_name *tasks_name(const struct tasks *tasks, u32 name)
{
	return &tasks->names.items[name];
}

/* While exec() runs, samples still have the registers of the old program: what the new one has not
 * mapped is looked for in what was there before. */
const struct piece *tasks_piece_at(const struct tasks *tasks, u32 life, u64 address, u64 time_ns,
				   struct span *ret_around)
{
	u32 at = process_row(tasks, tasks->lives.items[life].process)->era;

	*ret_around = (struct span){0, ~0ULL};
	while (at) {
		const struct era *era = &tasks->eras.items[at];
		const struct piece *piece = NULL;

		if (era->from_ns <= time_ns)
			piece = image_find(era->view, address, time_ns, ret_around);
		if (piece)
			return piece;
		at = era->previous;
	}
	return NULL;
}

/* --- the window's end ---------------------------------------------------------------------------
 */

/* The names that a life goes on with, oldest first in the new table. Returns the newest's row. */
static u32 move_names(const struct tasks *old, u32 name, u64 keep_ns, struct tasks *tasks)
{
	VEC(u32) kept = {0};
	u32 previous = 0;

	while (name) {
		*vec_add(&kept) = name;
		name = old->names.items[name].time_ns > keep_ns ? old->names.items[name].previous
								: 0;
	}
	for (size_t i = kept.count; i-- > 0;) {
		struct task_name row = old->names.items[kept.items[i]];

		row.previous = previous;
		*vec_add(&tasks->names) = row;
		previous = (u32)tasks->names.count - 1;
	}
	vec_release(&kept);
	return previous;
}

/* Moves the eras of a process in the same way; views change hands. */
static u32 move_eras(struct tasks *old, u32 era, u64 keep_ns, struct tasks *tasks)
{
	VEC(u32) kept = {0};
	u32 previous = 0;

	while (era) {
		*vec_add(&kept) = era;
		era = old->eras.items[era].from_ns > keep_ns ? old->eras.items[era].previous : 0;
	}
	for (size_t i = kept.count; i-- > 0;) {
		struct era *from = &old->eras.items[kept.items[i]];

		previous = add_era(tasks, previous, from->from_ns, from->view);
		from->view = (struct image_view){0};
		image_compact(&tasks->eras.items[previous].view);
	}
	vec_release(&kept);
	return previous;
}

static u32 move_process(struct tasks *old, u32 row, u64 keep_ns, struct tasks *tasks)
{
	struct process *process = process_row(old, row);
	struct process copy = *process;
	u32 *place;

	if (process->next_row)
		return process->next_row;
	copy.era = move_eras(old, process->era, keep_ns, tasks);
	place = idmap_place(&tasks->process_of, copy.pid);
	copy.previous = *place;
	*vec_add(&tasks->processes) = copy;
	*place = process->next_row = (u32)tasks->processes.count - 1;
	return *place;
}

static void count_pieces(struct tasks *tasks)
{
	tasks->pieces = 0;
	tasks->marks++;
	for (size_t i = 1; i < tasks->eras.count; i++)
		if (!image_mark(tasks->eras.items[i].view, tasks->marks))
			tasks->pieces += image_rows(tasks->eras.items[i].view);
}

static bool stays(const struct task_life *life, u64 keep_ns)
{
	return !life->end_ns || life->end_ns >= keep_ns;
}

/* Rows stand in order of time, so the newest of each tid and pid comes last here too. */
void tasks_turn(struct tasks *tasks, u64 keep_ns)
{
	struct tasks old = *tasks;

	*tasks = (struct tasks){.files = old.files, .marks = old.marks};
	add_zero_rows(tasks);
	for (u32 i = 1; i < old.lives.count; i++) {
		struct task_life life = old.lives.items[i];

		if (!stays(&life, keep_ns))
			continue;
		life.name = move_names(&old, life.name, keep_ns, tasks);
		life.process = move_process(&old, life.process, keep_ns, tasks);
		add_life(tasks, &life);
	}
	release(&old);
	count_pieces(tasks);
}

void tasks_end_unless(struct tasks *tasks, bool (*is_alive)(u32 pid, u32 tid), u64 now_ns)
{
	for (u32 i = 1; i < tasks->lives.count; i++) {
		struct task_life *life = &tasks->lives.items[i];

		if (!life->end_ns && !is_alive(life->pid, life->tid))
			life->end_ns = now_ns;
	}
}

/* Calls for each piece of each image once. */
static void each_piece(struct tasks *tasks, void (*take)(struct seen_files *, struct piece *),
		       struct seen_files *context)
{
	tasks->marks++;
	for (size_t i = 1; i < tasks->eras.count; i++) {
		struct image_view view = tasks->eras.items[i].view;
		struct piece *pieces = image_pieces(view);

		if (image_mark(view, tasks->marks))
			continue;
		for (u32 row = 0; row < image_rows(view); row++)
			take(context, &pieces[row]);
	}
}

static void count_file(struct seen_files *files, struct piece *piece)
{
	seen_files_count(files, piece->file);
}

static void renumber_file(struct seen_files *old, struct piece *piece)
{
	piece->file = seen_files_state(old, piece->file)->next;
}

void tasks_count_files(struct tasks *tasks)
{
	each_piece(tasks, count_file, tasks->files);
}

void tasks_renumber_files(struct tasks *tasks, struct seen_files *old)
{
	each_piece(tasks, renumber_file, old);
}

u64 tasks_process_start(const struct tasks *tasks, u32 life)
{
	return process_row(tasks, tasks->lives.items[life].process)->start_ns;
}

u64 tasks_threads(const struct tasks *tasks)
{
	return tasks->lives.count - 1;
}

u64 tasks_bytes(const struct tasks *tasks)
{
	return tasks->lives.count * sizeof(struct task_life) +
	       tasks->names.count * sizeof(struct task_name) +
	       tasks->eras.count * (sizeof(struct era) + sizeof(struct process)) +
	       tasks->pieces * sizeof(struct piece);
}
