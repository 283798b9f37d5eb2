/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A window, and what happens on a small machine while it is open.
 */
#ifndef WINDOW_SCENE_H
#define WINDOW_SCENE_H

#include "base/memory.h"
#include "unit/continuous/told.h"

#include <string.h>

enum { CODE = 0x400000, LIBRARY = 0x7f0000, SHELL = 10, CHILD = 20 };
static const u64 kernel_text = 0xffffffff81000000, kernel_symbol = 0xffffffffc0000000;

struct scene {
	struct window *window;
	struct event_sink *sink;
	struct told told;
	struct text binaries;
	bool refuses;
};

static inline bool take_binary(void *context, const struct mapping *binary)
{
	struct scene *scene = context;

	text_appendf(&scene->binaries, "%u %s ", binary->pid, binary->path);
	return !scene->refuses;
}

static inline void map(const struct scene *scene, u32 pid, u64 start, const char *path, u64 time_ns)
{
	sink_call(scene->sink, on_mapping,
		  &(struct mapping){
			  .time_ns = time_ns,
			  .pid = pid,
			  .tid = pid,
			  .space = SPACE_USER,
			  .start = start,
			  .bytes = 0x1000,
			  .path = path,
		  });
}

static inline void name(const struct scene *scene, u32 pid, u32 tid, const char *text, u64 time_ns)
{
	sink_call(scene->sink, on_name,
		  &(struct thread_name){
			  .pid = pid,
			  .tid = tid,
			  .name = text,
			  .time_ns = time_ns,
			  .is_exec = time_ns != 0 && pid == tid,
		  });
}

static inline void fork_of(const struct scene *scene, u32 parent, u32 pid, u32 tid, u64 time_ns)
{
	sink_call(scene->sink, on_fork,
		  &(struct thread_life){
			  .parent_pid = parent,
			  .parent_tid = parent,
			  .pid = pid,
			  .tid = tid,
			  .time_ns = time_ns,
			  .is_synthesized = !time_ns,
		  });
}

static inline void exit_of(const struct scene *scene, u32 pid, u32 tid, u64 time_ns)
{
	sink_call(scene->sink, on_exit,
		  &(struct thread_life){.pid = pid, .tid = tid, .time_ns = time_ns});
}

static inline void cgroup(const struct scene *scene, u64 id, const char *path, u64 time_ns)
{
	sink_call(scene->sink, on_cgroup,
		  &(struct cgroup_name){.time_ns = time_ns, .id = id, .path = path});
}

/* A sample of the shell, in a cgroup, without frames. */
static inline void sample_of_cgroup(const struct scene *scene, u64 id, u64 time_ns)
{
	sink_call(scene->sink, on_sample,
		  &(struct sample){
			  .time_ns = time_ns,
			  .weight = 7,
			  .pid = SHELL,
			  .tid = SHELL,
			  .address = CODE,
			  .space = SPACE_USER,
			  .cgroup = id,
		  });
}

/* A sample of a thread, with its frames, of which the first is the innermost. */
static inline void sample_of_frames(const struct scene *scene, struct sample sample)
{
	sample.weight = 7;
	sample.address = sample.frames[0].address;
	sample.space = sample.frames[0].space;
	sample.has_chain = true;
	sink_call(scene->sink, on_sample, &sample);
}

/* A sample of one frame. */
static inline void sample(const struct scene *scene, u32 pid, u32 tid, u64 address, u64 time_ns)
{
	struct frame frame = {.address = address, .space = address_space_of(address)};

	sample_of_frames(scene, (struct sample){.time_ns = time_ns,
						.pid = pid,
						.tid = tid,
						.frames = &frame,
						.frame_count = 1});
}

/* A kernel, and a shell with its code and a library. */
static inline int begin_with(void **state, u64 memory_bytes)
{
	static struct scene scene;
	struct window_settings settings = {
		.take_binary = take_binary,
		.context = &scene,
		.memory_bytes = memory_bytes,
	};

	scene = (struct scene){.window = window_new(&settings), .told.sink = told_members};
	scene.sink = window_sink(scene.window);
	sink_call(scene.sink, on_mapping,
		  &(struct mapping){
			  .pid = ~0u,
			  .space = SPACE_KERNEL,
			  .start = kernel_text,
			  .bytes = 0x1000000,
			  .path = "[kernel.kallsyms]_text",
		  });
	sink_call(scene.sink, on_kernel_symbol,
		  &(struct kernel_symbol){.start = kernel_symbol, .bytes = 0x100, .name = "prog"});
	fork_of(&scene, 1, SHELL, SHELL, 0);
	name(&scene, SHELL, SHELL, "sh", 0);
	map(&scene, SHELL, CODE, "/bin/sh", 0);
	map(&scene, SHELL, LIBRARY, "/lib/libc.so", 0);
	*state = &scene;
	return 0;
}

static inline int begin(void **state)
{
	return begin_with(state, 0);
}

static inline int end(void **state)
{
	struct scene *scene = *state;

	window_free(scene->window);
	text_release(&scene->told.text);
	text_release(&scene->binaries);
	return 0;
}

/* Ends the window there and begins the next; what it told. */
static inline const char *turn(struct scene *scene, u64 end_ns)
{
	text_truncate(&scene->told.text, 0);
	scene->told.samples = scene->told.weight = 0;
	window_end_at(scene->window, end_ns);
	sink_call(scene->sink, on_round, end_ns);
	assert_int_equal(window_hand_over(scene->window, &scene->told.sink), 0);
	window_turn(scene->window);
	return text_view(&scene->told.text);
}

#endif
