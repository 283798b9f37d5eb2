/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Taking events in: processes at once, samples when everything older has come.
 */
#include "continuous/window_state.h"

#include <string.h>

enum {
	SUM_BYTES = 160,       /* a sum with its key and its places in tables */
	TOLD_BYTES = 72,       /* a sum's record without its frames */
	CHAIN_EXTRA_BYTES = 48 /* a chain's row and places */
};

static struct window *window_of(struct event_sink *sink)
{
	return (struct window *)sink;
}

/* --- memory -------------------------------------------------------------------------------------
 */

/* What goes with the window. */
static u64 own_bytes(const struct window *window)
{
	return window->sums.count * SUM_BYTES + window->chain_bytes +
	       window->chains.count * CHAIN_EXTRA_BYTES +
	       window->needed_pieces.count * sizeof(struct needed_piece) +
	       window->pending.count * sizeof(struct pending) +
	       window->pending_frames.count * sizeof(u64);
}

static u64 all_bytes(const struct window *window)
{
	return own_bytes(window) + tasks_bytes(window->tasks) +
	       window_cgroups_bytes(&window->cgroups);
}

static bool is_beyond(const struct window *window, u64 times, u64 of)
{
	u64 limit = window->settings.memory_bytes;

	return limit && all_bytes(window) >= limit / of * times;
}

bool window_is_full(const struct window *window)
{
	enum { WORTH_A_WINDOW = 64 << 10 };
	u64 limit = window->settings.memory_bytes;
	u64 left = limit > window->living_bytes ? limit - window->living_bytes : 0;
	u64 used = all_bytes(window);

	used -= used < window->living_bytes ? used : window->living_bytes;
	return limit && used >= WORTH_A_WINDOW && used >= left / 2;
}

/* --- samples ------------------------------------------------------------------------------------
 */

static u16 frames_kept(const struct sample *sample)
{
	return sample->frame_count < CHAIN_MAX_FRAMES ? sample->frame_count : CHAIN_MAX_FRAMES;
}

/* Keeps the frames until it is known what was mapped there. Nearly all stacks are of one sample, so
 * to look for like ones before would be in vain. Returns how many are of the kernel. */
static u16 keep_frames(struct window *window, const struct sample *sample)
{
	u16 count = frames_kept(sample), kernel_count = 0;
	u64 *addresses;

	vec_reserve(&window->pending_frames, count);
	addresses = window->pending_frames.items + window->pending_frames.count;
	for (u32 i = 0; i < count; i++) {
		addresses[i] = sample->frames[i].address;
		kernel_count += sample->frames[i].space == SPACE_KERNEL;
	}
	window->pending_frames.count += count;
	return kernel_count;
}

struct chain_head window_chain(const struct window *window, u32 chain, const u8 **ret_addresses)
{
	const char *view = intern_view(&window->chains, chain);
	struct chain_head head;

	memcpy(&head, view, sizeof(head));
	*ret_addresses = (const u8 *)view + sizeof(head);
	return head;
}

static int on_sample(struct event_sink *sink, const struct sample *sample)
{
	struct window *window = window_of(sink);
	size_t first = window->pending_frames.count;
	u16 kernel_count;

	if (is_beyond(window, 5, 4)) {
		window->samples_dropped += sample_count(sample);
		return 0;
	}
	kernel_count = keep_frames(window, sample);
	*vec_add(&window->pending) = (struct pending){
		.time_ns = sample->time_ns,
		.weight = sample->weight,
		.address = sample->address,
		.cgroup = sample->cgroup,
		.first_frame = first,
		.frame_count = frames_kept(sample),
		.kernel_count = kernel_count,
		.pid = sample->pid,
		.tid = sample->tid,
		.cpu = sample->cpu,
		.count = sample_count(sample),
		.source = (u8)sample->source,
		.space = sample->space,
		.cut = sample->cut,
		.walked = sample->walked,
		.has_chain = sample->has_chain,
	};
	return 0;
}

/* Adds a sample to its sum. */
static void add_up(struct window *window, const struct pending *sample)
{
	u32 life = tasks_find(window->tasks, sample->pid, sample->tid, sample->time_ns), id;
	struct needed needed = window_need(window, sample, life);
	struct sum_key key = {
		.address = needed.address,
		.life = life,
		.name = needed.name,
		.chain = needed.chain,
		.source = sample->source,
		.space = sample->space,
		.cut = sample->cut,
		.walked = sample->walked,
		.has_chain = sample->has_chain,
	};
	struct sum *sum;

	key.cgroup = window_cgroups_need(&window->cgroups, sample->cgroup);
	id = intern_bytes(&window->keys, &key, sizeof(key));
	if (id > window->sums.count) {
		*vec_add(&window->sums) = (struct sum){0};
		window->told_bytes += TOLD_BYTES + sample->frame_count * sizeof(u64);
	}
	sum = &window->sums.items[id - 1];
	window->samples += sample->count;
	if (sample->time_ns < window->first_ns)
		window->first_ns = sample->time_ns;
	if (sample->time_ns > window->last_ns)
		window->last_ns = sample->time_ns;
	sum->weight += sample->weight;
	sum->count += sample->count;
	if (sample->time_ns >= sum->time_ns) {
		sum->time_ns = sample->time_ns;
		sum->cpu = sample->cpu;
	}
}

/* Lets a sample wait behind those that do already; their frames, too, stand side by side. */
static void keep_waiting(struct window *window, struct pending sample, size_t waiting,
			 size_t *frames)
{
	u64 *addresses = window->pending_frames.items;

	memmove(addresses + *frames, addresses + sample.first_frame,
		sample.frame_count * sizeof(*addresses));
	sample.first_frame = *frames;
	*frames += sample.frame_count;
	window->pending.items[waiting] = sample;
}

/* Adds up the waiting samples from before `until_ns`. */
static void settle(struct window *window, u64 until_ns)
{
	size_t waiting = 0, frames = 0;

	for (size_t i = 0; i < window->pending.count; i++) {
		struct pending sample = window->pending.items[i];

		if (sample.time_ns < until_ns)
			add_up(window, &sample);
		else
			keep_waiting(window, sample, waiting++, &frames);
	}
	window->pending.count = waiting;
	window->pending_frames.count = frames;
}

/* --- the other events ---------------------------------------------------------------------------
 */

static int on_round(struct event_sink *sink, u64 time_ns)
{
	struct window *window = window_of(sink);

	settle(window, time_ns < window->end_ns ? time_ns : window->end_ns);
	return 0;
}

/* Names of what was there from the start are kept anyway. */
static void map_kernel(struct window *window, const struct mapping *mapping)
{
	kernel_pieces_map(&window->kernel, &window->files, mapping);
	if (mapping->time_ns && window->settings.take_binary)
		(void)window->settings.take_binary(window->settings.context, mapping);
}

static int on_mapping(struct event_sink *sink, const struct mapping *mapping)
{
	struct window *window = window_of(sink);

	if (mapping->space == SPACE_KERNEL)
		map_kernel(window, mapping);
	else if (mapping->space != SPACE_USER || mapping->is_data)
		return 0;
	else if (is_beyond(window, 1, 1))
		window->mappings_dropped++;
	else
		tasks_map(window->tasks, mapping);
	return 0;
}

static int on_name(struct event_sink *sink, const struct thread_name *name)
{
	tasks_rename(window_of(sink)->tasks, name);
	return 0;
}

static int on_fork(struct event_sink *sink, const struct thread_life *life)
{
	tasks_fork(window_of(sink)->tasks, life);
	return 0;
}

static int on_exit_of(struct event_sink *sink, const struct thread_life *life)
{
	tasks_exit(window_of(sink)->tasks, life);
	return 0;
}

static int on_kernel_symbol(struct event_sink *sink, const struct kernel_symbol *symbol)
{
	struct window *window = window_of(sink);

	kernel_pieces_symbol(&window->kernel, &window->files, symbol);
	return 0;
}

static int on_cgroup(struct event_sink *sink, const struct cgroup_name *cgroup)
{
	window_cgroups_tell(&window_of(sink)->cgroups, cgroup);
	return 0;
}

static const struct event_sink sink_members = {
	.on_sample = on_sample,
	.on_mapping = on_mapping,
	.on_name = on_name,
	.on_fork = on_fork,
	.on_exit = on_exit_of,
	.on_kernel_symbol = on_kernel_symbol,
	.on_cgroup = on_cgroup,
	.on_round = on_round,
};

/* --- the window's end ---------------------------------------------------------------------------
 */

/* Files that nobody has mapped any more are forgotten when they are the larger part. */
static void compact_files(struct window *window)
{
	enum { FEW_FILES = 1024 };
	struct seen_files old;
	u32 count = (u32)window->files.states.count;

	if (count < FEW_FILES || count < window->compact_files_at)
		return;
	tasks_count_files(window->tasks);
	for (size_t i = 0; i < window->kernel.rows.count; i++)
		seen_files_count(&window->files, window->kernel.rows.items[i].file);
	seen_files_compact(&window->files, &old);
	tasks_renumber_files(window->tasks, &old);
	for (size_t i = 0; i < window->kernel.rows.count; i++) {
		u32 *file = &window->kernel.rows.items[i].file;

		*file = seen_files_state(&old, *file)->next;
	}
	seen_files_release(&old);
	window->compact_files_at = 2 * (u32)window->files.states.count;
}

static void forget_samples(struct window *window)
{
	vec_release(&window->sums);
	window->first_ns = ~0ULL;
	window->last_ns = 0;
	intern_release(&window->keys);
	intern_release(&window->chains);
	window->chain_bytes = 0;
	intern_release(&window->needed_pieces);
	memset(window->noted, 0, sizeof(window->noted));
	intern_release(&window->jit_places);
	idmap_release(&window->jit_processes);
	vec_release(&window->jit_ids);
	idmap_release(&window->needed_lives);
	idmap_release(&window->needed_names);
	window->samples = window->samples_dropped = window->mappings_dropped = 0;
	window->told_bytes = 0;
}

void window_turn(struct window *window)
{
	/* A thread's last samples may come a little later than its end. */
	enum { GRACE_NS = 1000000000 };
	u64 end_ns = window->end_ns;
	u64 keep_ns = end_ns > GRACE_NS ? end_ns - GRACE_NS : 0;

	forget_samples(window);
	tasks_turn(window->tasks, keep_ns);
	kernel_pieces_turn(&window->kernel);
	window_cgroups_turn(&window->cgroups);
	compact_files(window);
	window->living_bytes = tasks_bytes(window->tasks);
	window->start_ns = end_ns;
	window->end_ns = ~0ULL;
}

void window_settle(struct window *window)
{
	settle(window, window->end_ns);
}

void window_end_at(struct window *window, u64 end_ns)
{
	window->end_ns = end_ns;
}

void window_forget_dead(struct window *window, bool (*is_alive)(u32 pid, u32 tid), u64 now_ns)
{
	tasks_end_unless(window->tasks, is_alive, now_ns);
}

struct window_counts window_counts(const struct window *window)
{
	return (struct window_counts){
		.samples = window->samples,
		.sums = window->sums.count,
		.told_bytes = window->told_bytes,
		.stacks = window->chains.count,
		.threads = tasks_threads(window->tasks),
		.bytes = all_bytes(window),
		.samples_dropped = window->samples_dropped,
		.mappings_dropped = window->mappings_dropped,
	};
}

struct window *window_new(const struct window_settings *settings)
{
	struct window *window = must_alloc(sizeof(*window));

	window->sink = sink_members;
	window->settings = *settings;
	window->end_ns = window->first_ns = ~0ULL;
	window->tasks = tasks_new(&window->files);
	return window;
}

struct event_sink *window_sink(struct window *window)
{
	return &window->sink;
}

void window_free(struct window *window)
{
	if (!window)
		return;
	forget_samples(window);
	vec_release(&window->pending);
	vec_release(&window->pending_frames);
	tasks_free(window->tasks);
	kernel_pieces_release(&window->kernel);
	window_cgroups_release(&window->cgroups);
	seen_files_release(&window->files);
	free(window);
}
