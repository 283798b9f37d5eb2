/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads and their mappings, kept to the end.
 *
 * Source of the rules: Linux 6.1, tools/perf/util/machine.c and thread.c, and tasks_print() of
 * builtin-report.c for the order.
 */
#include "event/task_list.h"

#include "base/idmap.h"
#include "base/intern.h"
#include "base/text.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdlib.h>

#define NOBODY UINT32_MAX

enum {
	TABLES = 256,	/* that perf keeps threads in, by tid */
	DEEPEST = 1000, /* that lines are moved to the right */
	PROT_READ_BIT = 1,
	PROT_WRITE_BIT = 2,
	PROT_EXECUTE_BIT = 4,
	MAP_SHARED_BIT = 1,
};

struct piece {
	u64 start, end, offset, inode;
	u32 protection, flags, path; /* path: in `names` */
};

typedef VEC(struct piece) piece_list; /* ascending, disjoint */

struct task {
	u32 pid, tid;
	u32 parent; /* tid, or NOBODY */
	u32 comm;   /* in `names`; 0: none was told */
	u32 maps;   /* row; threads of a process share it */
	bool is_gone;
};

struct task_list {
	struct event_sink sink; /* first */
	bool has_maps;
	VEC(struct task) tasks;
	struct idmap task_of; /* tid → row + 1 */
	VEC(piece_list) maps;
	struct intern names;
};

static struct task *find(const struct task_list *tasks, u32 tid)
{
	u32 row = idmap_get(&tasks->task_of, tid);

	return row ? &tasks->tasks.items[row - 1] : NULL;
}

static void remove_task(struct task_list *tasks, struct task *task)
{
	task->is_gone = true;
	idmap_remove(&tasks->task_of, task->tid);
}

static u32 add_maps(struct task_list *tasks)
{
	*vec_add(&tasks->maps) = (piece_list){0};
	return (u32)tasks->maps.count - 1;
}

static struct task *add_task(struct task_list *tasks, u32 pid, u32 tid, u32 maps)
{
	*vec_add(&tasks->tasks) = (struct task){
		.pid = pid,
		.tid = tid,
		.parent = NOBODY,
		.maps = maps,
	};
	*idmap_place(&tasks->task_of, tid) = (u32)tasks->tasks.count;
	return &tasks->tasks.items[tasks->tasks.count - 1];
}

/* Finds a thread, or makes it, and its process before it. Valid until the next call. */
static struct task *find_or_add(struct task_list *tasks, u32 pid, u32 tid)
{
	struct task *task = find(tasks, tid), *leader;
	u32 maps;

	if (task) {
		if (task->pid == NOBODY)
			task->pid = pid;
		return task;
	}
	if (pid == tid || pid == NOBODY)
		return add_task(tasks, pid, tid, add_maps(tasks));
	leader = find(tasks, pid);
	if (!leader)
		leader = add_task(tasks, pid, pid, add_maps(tasks));
	maps = leader->maps;
	return add_task(tasks, pid, tid, maps);
}

/* --- events --- */

static int take_name(struct event_sink *sink, const struct thread_name *name)
{
	struct task_list *tasks = (struct task_list *)sink;

	find_or_add(tasks, name->pid, name->tid)->comm = intern_text(&tasks->names, name->name);
	return 0;
}

static void copy_maps(struct task_list *tasks, u32 to, u32 from)
{
	const piece_list *source = &tasks->maps.items[from];
	piece_list *copy = &tasks->maps.items[to];

	copy->count = 0;
	vec_reserve(copy, source->count);
	if (source->count)
		memcpy(copy->items, source->items, source->count * sizeof(*source->items));
	copy->count = source->count;
}

static int take_fork(struct event_sink *sink, const struct thread_life *life)
{
	struct task_list *tasks = (struct task_list *)sink;
	struct task *before = find(tasks, life->tid), parent, *child;

	parent = *find_or_add(tasks, life->parent_pid, life->parent_tid);
	if (parent.pid != life->parent_pid) {
		remove_task(tasks, find(tasks, life->parent_tid));
		parent = *find_or_add(tasks, life->parent_pid, life->parent_tid);
	}
	if (before && find(tasks, life->tid))
		remove_task(tasks, find(tasks, life->tid));
	child = find_or_add(tasks, life->pid, life->tid);
	child->parent = parent.tid;
	if (parent.comm)
		child->comm = parent.comm;
	if (child->pid != parent.pid && child->maps != parent.maps && !life->is_synthesized)
		copy_maps(tasks, child->maps, parent.maps);
	return 0;
}

/* Puts a piece on top of the others: what it covers is cut away. */
static void map_piece(piece_list *list, const struct piece *piece)
{
	piece_list after = {0};
	bool is_placed = false;

	for (size_t i = 0; i < list->count; i++) {
		struct piece old = list->items[i];

		if (old.start < piece->start) {
			*vec_add(&after) = old;
			if (old.end > piece->start)
				after.items[after.count - 1].end = piece->start;
		}
		if (!is_placed && old.end > piece->start) {
			*vec_add(&after) = *piece;
			is_placed = true;
		}
		if (old.end > piece->end) {
			u64 cut = old.start < piece->end ? piece->end - old.start : 0;

			old.start += cut;
			old.offset += cut;
			*vec_add(&after) = old;
		}
	}
	if (!is_placed)
		*vec_add(&after) = *piece;
	vec_release(list);
	*list = after;
}

/* perf looks for names of code without a file in such files. */
static bool is_code_without_file(const struct mapping *mapping)
{
	static const char *const starts[] = {"//anon", "/dev/zero", "/anon_hugepage",
					     "[stack", "[heap",	    "/SYSV"};

	if (!(mapping->protection & PROT_EXECUTE_BIT))
		return false;
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (!strncmp(mapping->path, starts[i], strlen(starts[i])))
			return true;
	return false;
}

static int take_mapping(struct event_sink *sink, const struct mapping *mapping)
{
	struct task_list *tasks = (struct task_list *)sink;
	struct piece piece = {
		.start = mapping->start,
		.end = mapping->start + mapping->bytes,
		.offset = mapping->file_offset,
		.inode = mapping->inode,
		.protection = mapping->protection,
		.flags = mapping->flags,
	};
	u32 maps;

	if (!tasks->has_maps || mapping->space != SPACE_USER)
		return 0;
	maps = find_or_add(tasks, mapping->pid, mapping->tid)->maps;
	if (piece.end <= piece.start)
		return 0;
	if (!strncmp(mapping->path, "[vdso", strlen("[vdso")))
		piece.offset = 0; /* wherever the file says */
	if (is_code_without_file(mapping)) {
		CLEANUP(freep) char *path = must_format("/tmp/perf-%d.map", (int)mapping->pid);

		piece.path = intern_text(&tasks->names, path);
	} else {
		piece.path = intern_text(&tasks->names, mapping->path);
	}
	map_piece(&tasks->maps.items[maps], &piece);
	return 0;
}

/* --- printing --- */

/* Which tasks a task began, by row + 1; row 0 is of those whose beginning is not known. */
struct kin {
	u32 parent, first_child, last_child, next;
	bool is_listed;
};

static int compare_tasks(const void *left, const void *right, void *context)
{
	const struct task_list *tasks = context;
	u32 a = tasks->tasks.items[*(const u32 *)left].tid;
	u32 b = tasks->tasks.items[*(const u32 *)right].tid;

	if (a % TABLES != b % TABLES)
		return a % TABLES < b % TABLES ? -1 : 1;
	return ((s32)a > (s32)b) - ((s32)a < (s32)b);
}

static u32 parent_of(const struct task_list *tasks, u32 row)
{
	u32 parent = tasks->tasks.items[row].parent;

	return parent == NOBODY ? 0 : idmap_get(&tasks->task_of, parent);
}

/* Puts a task behind its parent's other children, then that one likewise. */
static void add_kin(const struct task_list *tasks, struct kin *kin, u32 row)
{
	for (u32 child = row + 1; child && !kin[child].is_listed; child = kin[child].parent) {
		u32 parent = parent_of(tasks, child - 1);
		struct kin *list = &kin[parent];

		kin[child].is_listed = true;
		kin[child].parent = parent;
		if (list->last_child)
			kin[list->last_child].next = child;
		else
			list->first_child = child;
		list->last_child = child;
	}
}

/* All of them, in the order in which perf finds them. */
static struct kin *find_kin(const struct task_list *tasks)
{
	struct kin *kin = must_alloc_array(tasks->tasks.count + 1, sizeof(*kin));
	CLEANUP(freep) u32 *order = must_alloc_array(tasks->tasks.count, sizeof(*order));
	size_t count = 0;

	for (u32 row = 0; row < tasks->tasks.count; row++)
		if (!tasks->tasks.items[row].is_gone)
			order[count++] = row;
	qsort_r(order, count, sizeof(*order), compare_tasks, (void *)tasks);
	for (size_t i = 0; i < count; i++)
		add_kin(tasks, kin, order[i]);
	return kin;
}

static void print_maps(const struct task_list *tasks, u32 maps, int indent, FILE *out)
{
	const piece_list *list = &tasks->maps.items[maps];

	for (size_t i = 0; i < list->count; i++) {
		const struct piece *piece = &list->items[i];
		struct text path = {0};

		text_append_printable(&path, intern_view(&tasks->names, piece->path));
		fprintf(out, "%*s  %" PRIx64 "-%" PRIx64 " %c%c%c%c %08" PRIx64 " %" PRIu64 " %s\n",
			indent, "", piece->start, piece->end,
			piece->protection & PROT_READ_BIT ? 'r' : '-',
			piece->protection & PROT_WRITE_BIT ? 'w' : '-',
			piece->protection & PROT_EXECUTE_BIT ? 'x' : '-',
			piece->flags & MAP_SHARED_BIT ? 's' : 'p', piece->offset, piece->inode,
			text_view(&path));
		text_release(&path);
	}
}

static void print_task(const struct task_list *tasks, u32 row, int level, FILE *out)
{
	const struct task *task = &tasks->tasks.items[row];
	struct text comm = {0};
	int indent;

	if (task->comm)
		text_append_printable(&comm, intern_view(&tasks->names, task->comm));
	else
		text_appendf(&comm, ":%d", (int)task->tid);
	indent = fprintf(out, "  %8d %8d %8d |%*s", (int)task->pid, (int)task->tid,
			 (int)task->parent, level < DEEPEST ? level : DEEPEST, "");
	fprintf(out, "%s\n", text_view(&comm));
	if (tasks->has_maps)
		print_maps(tasks, task->maps, indent, out);
	text_release(&comm);
}

/* Children first, then siblings, then the parent's siblings. */
static u32 next_of(const struct kin *kin, u32 at, int *level)
{
	if (kin[at].first_child) {
		++*level;
		return kin[at].first_child;
	}
	while (at && !kin[at].next) {
		at = kin[at].parent;
		--*level;
	}
	return at ? kin[at].next : 0;
}

void task_list_print(const struct task_list *tasks, FILE *out)
{
	CLEANUP(freep) struct kin *kin = find_kin(tasks);
	int level = 0;

	fprintf(out, "# %8s %8s %8s  %s\n", "pid", "tid", "ppid", "comm");
	for (u32 at = kin[0].first_child; at; at = next_of(kin, at, &level))
		print_task(tasks, at - 1, level, out);
}

/* --- the list --- */

struct task_list *task_list_new(bool has_maps)
{
	struct task_list *tasks = must_alloc(sizeof(*tasks));

	tasks->has_maps = has_maps;
	tasks->sink.on_name = take_name;
	tasks->sink.on_fork = take_fork;
	tasks->sink.on_mapping = take_mapping;
	find_or_add(tasks, 0, 0)->comm = intern_text(&tasks->names, "swapper");
	return tasks;
}

void task_list_free(struct task_list *tasks)
{
	if (!tasks)
		return;
	for (size_t i = 0; i < tasks->maps.count; i++)
		vec_release(&tasks->maps.items[i]);
	vec_release(&tasks->maps);
	vec_release(&tasks->tasks);
	idmap_release(&tasks->task_of);
	intern_release(&tasks->names);
	free(tasks);
}

struct event_sink *task_list_sink(struct task_list *tasks)
{
	return &tasks->sink;
}
