/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where samples lie in files, as a window tells whoever keeps lines of source.
 */
#include "unit/continuous/window_scene.h"

struct code_scene {
	struct scene scene;
	struct text code;
};

static void take_code(void *context, const struct sampled_code *code)
{
	struct code_scene *scene = context;

	text_appendf(&scene->code, "%u %s", code->binary->pid, code->binary->path);
	for (size_t i = 0; i < code->count; i++)
		text_appendf(&scene->code, " %s%llx", code->places[i] & 1 ? "<" : "",
			     (unsigned long long)code->places[i] >> 1);
	text_append(&scene->code, "\n");
}

static int begin_with_code(void **state)
{
	static struct code_scene scene;
	struct window_settings settings = {.take_code = take_code, .context = &scene};

	scene = (struct code_scene){
		.scene = {.window = window_new(&settings), .told.sink = told_members}};
	scene.scene.sink = window_sink(scene.scene.window);
	fork_of(&scene.scene, 1, SHELL, SHELL, 0);
	fork_of(&scene.scene, 1, CHILD, CHILD, 0);
	*state = &scene;
	return 0;
}

static int end_with_code(void **state)
{
	struct code_scene *scene = *state;

	text_release(&scene->code);
	*state = &scene->scene;
	return end(state);
}

/* Its second page, under that build id; 0: it has none. */
static void map_code(const struct scene *scene, u32 pid, u64 start, const char *path, u8 id)
{
	sink_call(scene->sink, on_mapping,
		  &(struct mapping){
			  .pid = pid,
			  .tid = pid,
			  .space = SPACE_USER,
			  .start = start,
			  .bytes = 0x1000,
			  .file_offset = 0x1000,
			  .build_id_bytes = id ? 4 : 0,
			  .build_id = {id, 2, 3, 4},
			  .path = path,
		  });
}

static void sample_chain(const struct scene *scene, u32 pid, const u64 *addresses, u16 count,
			 u64 time_ns)
{
	struct frame frames[8];

	for (u16 i = 0; i < count; i++)
		frames[i] = (struct frame){.address = addresses[i],
					   .space = address_space_of(addresses[i])};
	sample_of_frames(scene, (struct sample){.time_ns = time_ns,
						.pid = pid,
						.tid = pid,
						.frames = frames,
						.frame_count = count});
}

static void places_of_all_processes_come_once_in_order(void **state)
{
	struct code_scene *scene = *state;
	const u64 one[] = {CODE + 8, CODE + 4, LIBRARY + 16};
	const u64 two[] = {2 * CODE + 8, 2 * CODE + 6};
	const u64 in_kernel[] = {kernel_text + 4, CODE + 4, CODE + 20};

	map_code(&scene->scene, SHELL, CODE, "/bin/sh", 1);
	map_code(&scene->scene, SHELL, LIBRARY, "/lib/libc.so", 2);
	map_code(&scene->scene, CHILD, 2 * CODE, "/bin/sh", 1);
	sample_chain(&scene->scene, SHELL, one, 3, 100);
	sample_chain(&scene->scene, SHELL, one, 3, 110);
	sample_chain(&scene->scene, CHILD, two, 2, 120);
	sample_chain(&scene->scene, SHELL, in_kernel, 3, 130);
	exit_of(&scene->scene, CHILD, CHILD, 140);
	turn(&scene->scene, 1000);
	assert_string_equal(text_view(&scene->code),
			    "10 /bin/sh 1004 <1004 <1006 1008 <1014\n10 /lib/libc.so <1010\n");
}

static void of_what_has_no_build_id_and_of_no_file_nothing_is_told(void **state)
{
	struct code_scene *scene = *state;
	const u64 one[] = {CODE + 8, LIBRARY + 16, 1};

	map_code(&scene->scene, SHELL, CODE, "/bin/sh", 0);
	map_code(&scene->scene, SHELL, LIBRARY, "//anon", 2);
	sample_chain(&scene->scene, SHELL, one, 3, 100);
	turn(&scene->scene, 1000);
	assert_string_equal(text_view(&scene->code), "");
}

#define TOLD(test) cmocka_unit_test_setup_teardown(test, begin_with_code, end_with_code)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TOLD(places_of_all_processes_come_once_in_order),
		TOLD(of_what_has_no_build_id_and_of_no_file_nothing_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
