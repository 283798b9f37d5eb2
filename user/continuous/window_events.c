/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handing a window over: of processes and mappings what its sums need, in order of time, and the
 * sums.
 */
#include "continuous/window_order.h"
#include "continuous/window_state.h"

#include <string.h>

/* In the order in which they come at one time. */
enum step_kind { STEP_KERNEL, STEP_CGROUP, STEP_LIFE, STEP_NAME, STEP_PIECE };

/* One event to come: a row of what its kind is about. */
struct step {
	u64 time_ns;
	u32 pid; /* 0: of the machine */
	u32 kind, row;
	u32 life; /* of names: whose */
};

struct handing {
	struct window *window;
	struct event_sink *sink;
	struct idmap timed;   /* window_find_timed() */
	bool is_kernel_timed; /* something of the kernel has a time */
	VEC(struct step) steps;
	VEC(struct told_sum) sums;
};

/* What was so when the window began has no time. */
static u64 since(const struct window *window, u64 time_ns)
{
	return time_ns < window->start_ns ? 0 : time_ns;
}

static void add_step(struct handing *handing, struct step step)
{
	if (step.pid && !idmap_get(&handing->timed, step.pid))
		step.time_ns = 0;
	step.time_ns = since(handing->window, step.time_ns);
	*vec_add(&handing->steps) = step;
}

static int compare_steps(const void *left, const void *right)
{
	const struct step *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

/* --- what there is to tell ----------------------------------------------------------------------
 */

static void list_kernel(struct handing *handing)
{
	const struct kernel_pieces *kernel = &handing->window->kernel;

	for (u32 i = 0; i < kernel->rows.count; i++) {
		const struct kernel_piece *row = &kernel->rows.items[i];

		/* The first is the kernel itself, without which readers look for no module. */
		if (!row->is_needed && i > 0)
			continue;
		add_step(handing, (struct step){row->time_ns, 0, STEP_KERNEL, i, 0});
		handing->is_kernel_timed |= since(handing->window, row->time_ns) != 0;
	}
}

static void list_cgroups(struct handing *handing)
{
	const struct window_cgroups *cgroups = &handing->window->cgroups;

	for (u32 i = 0; i < cgroups->rows.count; i++)
		if (cgroups->rows.items[i].has_sample && cgroups->rows.items[i].path)
			add_step(handing, (struct step){0, 0, STEP_CGROUP, i, 0});
}

/* Of a thread's names those that its samples came under. */
static void list_names(struct handing *handing, u32 life)
{
	const struct window *window = handing->window;
	const struct task_life *task = tasks_life(window->tasks, life);
	u32 name = task->name;

	while (name) {
		const struct task_name *row = tasks_name(window->tasks, name);

		if (idmap_get(&window->needed_names, name))
			add_step(handing,
				 (struct step){row->time_ns, task->pid, STEP_NAME, name, life});
		name = row->previous;
	}
}

/* That a thread began is told only where that keeps it from being taken for another one. */
static void list_tasks(struct handing *handing)
{
	const struct idmap *lives = &handing->window->needed_lives;

	for (size_t i = 0; i < lives->capacity; i++) {
		u32 row = (u32)lives->slots[i].key;
		const struct task_life *life;

		if (!lives->slots[i].value)
			continue;
		life = tasks_life(handing->window->tasks, row);
		if (idmap_get(&handing->timed, life->pid))
			add_step(handing,
				 (struct step){life->start_ns, life->pid, STEP_LIFE, row, 0});
		list_names(handing, row);
	}
}

static void list_pieces(struct handing *handing)
{
	const struct window *window = handing->window;

	for (u32 row = 1; row <= window->needed_pieces.count; row++) {
		struct needed_piece piece = window_piece(window, row);

		add_step(handing, (struct step){piece.time_ns, piece.pid, STEP_PIECE, row, 0});
	}
}

/* --- sums ---------------------------------------------------------------------------------------
 */

/* A sum was all through the window. Where nothing else has a time that it has to fit to, all come
 * with the first sample: moments that mean nothing would be a quarter of all that they take. The
 * last one says until when there were samples. */
static u64 sum_time(const struct handing *handing, u32 pid, u64 time_ns)
{
	const struct window *window = handing->window;

	if (handing->is_kernel_timed || idmap_get(&handing->timed, pid) ||
	    time_ns == window->last_ns)
		return time_ns;
	return window->first_ns < window->start_ns ? window->start_ns : window->first_ns;
}

static struct sum_key key_of(const struct window *window, u32 row)
{
	struct sum_key key;

	memcpy(&key, intern_view(&window->keys, row), sizeof(key));
	return key;
}

/* Keys stand in the order of the rows, what they lead to lies anywhere. */
static void expect_row(const struct window *window, u32 row)
{
	enum { NEXT = 6, AFTER = 12 };

	if (row + AFTER <= window->sums.count)
		intern_expect_row(&window->chains, key_of(window, row + AFTER).chain);
	if (row + NEXT <= window->sums.count)
		intern_expect_view(&window->chains, key_of(window, row + NEXT).chain);
}

static void list_sums(struct handing *handing)
{
	struct window *window = handing->window;

	vec_reserve(&handing->sums, window->sums.count);
	for (u32 row = 1; row <= window->sums.count; row++) {
		const struct sum *counted = &window->sums.items[row - 1];
		struct told_sum sum = {
			.row = row,
			.samples = counted->count,
			.cpu = counted->cpu,
		};
		struct sum_key key = key_of(window, row);

		expect_row(window, row);
		sum.key = (const u8 *)intern_view(&window->keys, row);
		sum.time_ns = sum_time(handing, tasks_life(window->tasks, key.life)->pid,
				       counted->time_ns);
		sum.count = window_chain(window, key.chain, &sum.addresses).count;
		/* where sorting begins to look */
		__builtin_prefetch(sum.addresses + sum.count * sizeof(u64) - 1);
		*vec_add(&handing->sums) = sum;
	}
}

/* --- telling it ---------------------------------------------------------------------------------
 */

static int tell_kernel(const struct handing *handing, const struct step *step)
{
	const struct window *window = handing->window;
	const struct kernel_piece *row = &window->kernel.rows.items[step->row];
	struct mapping mapping = {
		.time_ns = step->time_ns,
		.start = row->told,
		.bytes = row->end - row->start,
		.file_offset = row->file_offset,
	};

	seen_files_fill(&window->files, row->file, &mapping);
	mapping.pid = ~0u;
	if (row->is_symbol) {
		struct kernel_symbol symbol = {
			.time_ns = step->time_ns,
			.start = row->told,
			.bytes = (u32)(row->end - row->start),
			.type = row->type,
			.name = mapping.path,
		};

		return sink_call(handing->sink, on_kernel_symbol, &symbol);
	}
	return sink_call(handing->sink, on_mapping, &mapping);
}

static int tell_cgroup(const struct handing *handing, const struct step *step)
{
	const struct window_cgroup *row = &handing->window->cgroups.rows.items[step->row];
	struct cgroup_name name = {.id = row->id, .path = row->path};

	return sink_call(handing->sink, on_cgroup, &name);
}

/* As if a scan had found it: what it inherited is told of it alone. */
static int tell_life(const struct handing *handing, const struct step *step)
{
	const struct task_life *task = tasks_life(handing->window->tasks, step->row);
	struct thread_life life = {
		.time_ns = step->time_ns,
		.pid = task->pid,
		.tid = task->tid,
		.parent_pid = task->parent_pid,
		.parent_tid = task->parent_tid,
		.is_synthesized = true,
	};

	return sink_call(handing->sink, on_fork, &life);
}

static int tell_name(const struct handing *handing, const struct step *step)
{
	const struct task_name *row = tasks_name(handing->window->tasks, step->row);
	const struct task_life *task = tasks_life(handing->window->tasks, step->life);
	struct thread_name name = {
		.time_ns = step->time_ns,
		.pid = task->pid,
		.tid = task->tid,
		.is_exec = row->is_exec && step->time_ns,
		.name = row->text,
	};

	return sink_call(handing->sink, on_name, &name);
}

static int tell_piece(const struct handing *handing, const struct step *step)
{
	struct needed_piece piece = window_piece(handing->window, step->row);
	struct mapping mapping = window_mapping(handing->window, &piece);

	mapping.time_ns = step->time_ns;
	mapping.start = window_place(handing->window, &piece);
	window_fill_id(handing->window, &piece, &mapping);
	return sink_call(handing->sink, on_mapping, &mapping);
}

/* Sums stand side by side by their stacks, and anywhere in memory. */
static void expect_sum(const struct handing *handing, const struct told_sum *told)
{
	enum { LINE_BYTES = 64 };

	__builtin_prefetch(&handing->window->sums.items[told->row - 1]);
	__builtin_prefetch(told->key);
	for (u32 at = 0; at < told->count * sizeof(u64); at += LINE_BYTES)
		__builtin_prefetch(told->addresses + at);
}

static int tell_sum(const struct handing *handing, const struct told_sum *told)
{
	const struct window *window = handing->window;
	const struct sum *sum = &window->sums.items[told->row - 1];
	struct frame frames[CHAIN_MAX_FRAMES];
	struct chain_head chain;
	struct sum_key key;
	const struct task_life *life;

	memcpy(&key, told->key, sizeof(key));
	memcpy(&chain, told->addresses - sizeof(chain), sizeof(chain));
	life = tasks_life(window->tasks, key.life);
	for (u32 i = 0; i < chain.count; i++) {
		frames[i] = (struct frame){.space = i < chain.kernel_count ? SPACE_KERNEL
									   : SPACE_USER};
		memcpy(&frames[i].address, told->addresses + i * sizeof(u64), sizeof(u64));
	}
	return sink_call(handing->sink, on_sample,
			 &(struct sample){
				 .time_ns = told->time_ns,
				 .weight = sum->weight,
				 .count = sum->count,
				 .address = key.address,
				 .cgroup = window_cgroups_id(&window->cgroups, key.cgroup),
				 .source = key.source,
				 .pid = life->pid,
				 .tid = life->tid,
				 .cpu = sum->cpu,
				 .space = key.space,
				 .cut = key.cut,
				 .walked = key.walked,
				 .has_chain = key.has_chain,
				 .frame_count = (u16)chain.count,
				 .frames = frames,
				 .hw_idx = ~0ULL,
			 });
}

static int (*const tell[])(const struct handing *handing, const struct step *step) = {
	[STEP_KERNEL] = tell_kernel, [STEP_CGROUP] = tell_cgroup, [STEP_LIFE] = tell_life,
	[STEP_NAME] = tell_name,     [STEP_PIECE] = tell_piece,
};

static int tell_all(const struct handing *handing)
{
	enum { AHEAD = 6 };
	const struct told_sum *sums = handing->sums.items;
	size_t count = handing->sums.count;
	int error = 0;

	for (size_t i = 0; !error && i < handing->steps.count; i++)
		error = tell[handing->steps.items[i].kind](handing, &handing->steps.items[i]);
	for (size_t i = 0; !error && i < count; i++) {
		if (i + AHEAD < count)
			expect_sum(handing, &sums[i + AHEAD]);
		error = tell_sum(handing, &sums[i]);
	}
	return error ? error : sink_call(handing->sink, on_end);
}

int window_hand_over(struct window *window, struct event_sink *sink)
{
	struct handing handing = {.window = window, .sink = sink};
	int error;

	window_settle(window);
	window_identify(window);
	window_tell_code(window);
	window_find_timed(window, &handing.timed);
	list_kernel(&handing);
	list_cgroups(&handing);
	list_tasks(&handing);
	list_pieces(&handing);
	if (handing.steps.count)
		qsort(handing.steps.items, handing.steps.count, sizeof(*handing.steps.items),
		      compare_steps);
	list_sums(&handing);
	window_order_sums(handing.sums.items, handing.sums.count);
	error = tell_all(&handing);
	vec_release(&handing.steps);
	vec_release(&handing.sums);
	idmap_release(&handing.timed);
	return error;
}
