/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handing a window over: its sums, and of everything else what they need, in order of time.
 */
#include "continuous/window_state.h"

#include <string.h>

/* In the order in which they come at one time. */
enum step_kind { STEP_KERNEL, STEP_CGROUP, STEP_LIFE, STEP_NAME, STEP_PIECE, STEP_SAMPLE };

/* One event to come: a row of what its kind is about. */
struct step {
	u64 time_ns;
	u32 kind, row;
	u32 life; /* of names: whose */
};

struct handing {
	struct window *window;
	struct event_sink *sink;
	VEC(struct step) steps;
};

/* What was so when the window began has no time. */
static u64 since(const struct window *window, u64 time_ns)
{
	return time_ns < window->start_ns ? 0 : time_ns;
}

static void add_step(struct handing *handing, struct step step)
{
	if (step.kind != STEP_SAMPLE)
		step.time_ns = since(handing->window, step.time_ns);
	*vec_add(&handing->steps) = step;
}

static int compare_steps(const void *left, const void *right)
{
	const struct step *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
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
		if (row->is_needed || i == 0)
			add_step(handing, (struct step){row->time_ns, STEP_KERNEL, i, 0});
	}
}

static void list_cgroups(struct handing *handing)
{
	const struct window_cgroups *cgroups = &handing->window->cgroups;

	for (u32 i = 0; i < cgroups->rows.count; i++)
		if (cgroups->rows.items[i].has_sample && cgroups->rows.items[i].path)
			add_step(handing, (struct step){0, STEP_CGROUP, i, 0});
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
			add_step(handing, (struct step){row->time_ns, STEP_NAME, name, life});
		name = row->previous;
	}
}

static void list_tasks(struct handing *handing)
{
	const struct idmap *lives = &handing->window->needed_lives;

	for (size_t i = 0; i < lives->capacity; i++) {
		const struct task_life *life;

		if (!lives->slots[i].value)
			continue;
		life = tasks_life(handing->window->tasks, (u32)lives->slots[i].key);
		add_step(handing,
			 (struct step){life->start_ns, STEP_LIFE, (u32)lives->slots[i].key, 0});
		list_names(handing, (u32)lives->slots[i].key);
	}
}

static void list_pieces(struct handing *handing)
{
	const struct window *window = handing->window;

	for (u32 row = 1; row <= window->needed_pieces.count; row++)
		add_step(handing,
			 (struct step){window_piece(window, row).time_ns, STEP_PIECE, row, 0});
}

static void list_samples(struct handing *handing)
{
	const struct window *window = handing->window;

	for (u32 row = 1; row <= window->sums.count; row++)
		add_step(handing,
			 (struct step){window->sums.items[row - 1].time_ns, STEP_SAMPLE, row, 0});
}

/* --- telling it ---------------------------------------------------------------------------------
 */

static int tell_kernel(const struct handing *handing, const struct step *step)
{
	const struct window *window = handing->window;
	const struct kernel_piece *row = &window->kernel.rows.items[step->row];
	struct mapping mapping = {
		.time_ns = step->time_ns,
		.start = row->start,
		.bytes = row->end - row->start,
		.file_offset = row->file_offset,
	};

	seen_files_fill(&window->files, row->file, &mapping);
	mapping.pid = ~0u;
	if (row->is_symbol) {
		struct kernel_symbol symbol = {
			.time_ns = step->time_ns,
			.start = row->start,
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
	window_fill_id(handing->window, &piece, &mapping);
	return sink_call(handing->sink, on_mapping, &mapping);
}

static int tell_sample(const struct handing *handing, const struct step *step)
{
	const struct window *window = handing->window;
	const struct sum *sum = &window->sums.items[step->row - 1];
	struct frame frames[CHAIN_MAX_FRAMES];
	const u8 *addresses;
	struct chain_head chain;
	struct sum_key key;
	const struct task_life *life;

	memcpy(&key, intern_view(&window->keys, step->row), sizeof(key));
	life = tasks_life(window->tasks, key.life);
	chain = window_chain(window, key.chain, &addresses);
	for (u32 i = 0; i < chain.count; i++) {
		frames[i] = (struct frame){.space = i < chain.kernel_count ? SPACE_KERNEL
									   : SPACE_USER};
		memcpy(&frames[i].address, addresses + i * sizeof(u64), sizeof(u64));
	}
	return sink_call(handing->sink, on_sample,
			 &(struct sample){
				 .time_ns = sum->time_ns,
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
	[STEP_NAME] = tell_name,     [STEP_PIECE] = tell_piece,	  [STEP_SAMPLE] = tell_sample,
};

int window_hand_over(struct window *window, struct event_sink *sink)
{
	struct handing handing = {.window = window, .sink = sink};
	int error = 0;

	window_settle(window);
	window_identify(window);
	list_kernel(&handing);
	list_cgroups(&handing);
	list_tasks(&handing);
	list_pieces(&handing);
	list_samples(&handing);
	if (!handing.steps.items)
		return sink_call(sink, on_end);
	qsort(handing.steps.items, handing.steps.count, sizeof(*handing.steps.items),
	      compare_steps);
	for (size_t i = 0; !error && i < handing.steps.count; i++)
		error = tell[handing.steps.items[i].kind](&handing, &handing.steps.items[i]);
	vec_release(&handing.steps);
	return error ? error : sink_call(sink, on_end);
}
