/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is mapped where, as events go by.
 */
#include "event/event.h"
#include "unit/unit.h"

#include <string.h>

static const u64 second_ns = 1000000000;

struct scene {
	struct process_table *table;
	struct event_sink *sink;
};

static int begin(void **state)
{
	static struct scene scene;

	scene.table = process_table_new();
	scene.sink = process_table_sink(scene.table);
	*state = &scene;
	return 0;
}

static int end(void **state)
{
	process_table_free(((struct scene *)*state)->table);
	return 0;
}

static void map(const struct scene *scene, u32 pid, u64 start, u64 bytes, const char *path)
{
	struct mapping mapping = {
		.pid = pid,
		.tid = pid,
		.space = SPACE_USER,
		.start = start,
		.bytes = bytes,
		.path = path,
	};

	assert_int_equal(sink_call(scene->sink, on_mapping, &mapping), 0);
}

static void name(const struct scene *scene, u32 pid, u32 tid, const char *text, bool is_exec)
{
	struct thread_name named = {.pid = pid, .tid = tid, .name = text, .is_exec = is_exec};

	assert_int_equal(sink_call(scene->sink, on_name, &named), 0);
}

static void fork_of(const struct scene *scene, u32 parent, u32 pid, u32 tid, u64 time_ns)
{
	struct thread_life life = {
		.parent_pid = parent,
		.parent_tid = parent,
		.pid = pid,
		.tid = tid,
		.time_ns = time_ns,
	};

	assert_int_equal(sink_call(scene->sink, on_fork, &life), 0);
}

static void exit_of(const struct scene *scene, u32 pid, u32 tid, u64 time_ns)
{
	struct thread_life life = {.pid = pid, .tid = tid, .time_ns = time_ns};

	assert_int_equal(sink_call(scene->sink, on_exit, &life), 0);
}

static const char *path_at(const struct scene *scene, u32 pid, u64 address)
{
	const struct mapped *mapped = process_table_find(scene->table, pid, address, SPACE_USER);

	return mapped ? mapped->file->path : "";
}

static void a_mapping_holds_its_first_and_last_byte(void **state)
{
	const struct scene *scene = *state;

	map(scene, 7, 0x1000, 0x1000, "/bin/a");
	assert_string_equal(path_at(scene, 7, 0xfff), "");
	assert_string_equal(path_at(scene, 7, 0x1000), "/bin/a");
	assert_string_equal(path_at(scene, 7, 0x1fff), "/bin/a");
	assert_string_equal(path_at(scene, 7, 0x2000), "");
	assert_string_equal(path_at(scene, 8, 0x1000), "");
}

static void a_new_mapping_cuts_the_middle_of_an_old_one(void **state)
{
	const struct scene *scene = *state;
	const struct mapped *tail;

	map(scene, 7, 0x1000, 0x9000, "/bin/a");
	map(scene, 7, 0x3000, 0x1000, "/lib/b");
	assert_string_equal(path_at(scene, 7, 0x2fff), "/bin/a");
	assert_string_equal(path_at(scene, 7, 0x3000), "/lib/b");
	assert_string_equal(path_at(scene, 7, 0x4000), "/bin/a");
	tail = process_table_find(scene->table, 7, 0x4000, SPACE_USER);
	assert_int_equal(tail->file_offset, 0x3000);
}

static void a_new_mapping_covers_several_old_ones(void **state)
{
	const struct scene *scene = *state;

	for (u64 i = 0; i < 10; i++)
		map(scene, 7, 0x1000 * i + 0x1000, 0x1000, i % 2 ? "/lib/odd" : "/lib/even");
	map(scene, 7, 0x1800, 0x8000, "/lib/new");
	assert_string_equal(path_at(scene, 7, 0x17ff), "/lib/even");
	assert_string_equal(path_at(scene, 7, 0x1800), "/lib/new");
	assert_string_equal(path_at(scene, 7, 0x97ff), "/lib/new");
	assert_string_equal(path_at(scene, 7, 0x9800), "/lib/even");
}

static void a_child_sees_what_its_parent_had_and_no_more(void **state)
{
	const struct scene *scene = *state;

	name(scene, 7, 7, "shell", false);
	map(scene, 7, 0x1000, 0x1000, "/bin/sh");
	fork_of(scene, 7, 8, 8, 1);
	map(scene, 7, 0x5000, 0x1000, "/lib/late");
	assert_string_equal(path_at(scene, 8, 0x1000), "/bin/sh");
	assert_string_equal(path_at(scene, 8, 0x5000), "");
	assert_string_equal(process_table_name(scene->table, 8), "shell");
}

static void exec_keeps_mappings_until_others_cover_them(void **state)
{
	const struct scene *scene = *state;

	map(scene, 7, 0x1000, 0x1000, "/bin/sh");
	fork_of(scene, 7, 8, 8, 1);
	name(scene, 8, 8, "ls", true);
	assert_string_equal(path_at(scene, 8, 0x1000), "/bin/sh");
	map(scene, 8, 0x1000, 0x1000, "/bin/ls");
	assert_string_equal(path_at(scene, 8, 0x1000), "/bin/ls");
	assert_string_equal(path_at(scene, 7, 0x1000), "/bin/sh");
	assert_string_equal(process_table_name(scene->table, 8), "ls");
}

static void threads_share_the_mappings_of_their_process(void **state)
{
	const struct scene *scene = *state;

	name(scene, 7, 7, "server", false);
	fork_of(scene, 7, 7, 9, 1);
	map(scene, 7, 0x1000, 0x1000, "/bin/server");
	name(scene, 7, 9, "worker", false);
	assert_string_equal(path_at(scene, 7, 0x1234), "/bin/server");
	assert_string_equal(process_table_name(scene->table, 9), "worker");
	assert_string_equal(process_table_name(scene->table, 7), "server");
}

static void threads_without_a_name_show_their_number(void **state)
{
	const struct scene *scene = *state;

	assert_string_equal(process_table_name(scene->table, 4711), ":4711");
	assert_string_equal(process_table_name(scene->table, 0), "swapper");
	assert_string_equal(process_table_name(scene->table, ~0U), ":-1");
}

static void what_ended_is_known_for_a_second_and_then_forgotten(void **state)
{
	const struct scene *scene = *state;

	name(scene, 8, 8, "ls", true);
	map(scene, 8, 0x1000, 0x1000, "/bin/ls");
	exit_of(scene, 8, 8, 5 * second_ns);
	fork_of(scene, 7, 9, 9, 5 * second_ns + 100);
	assert_string_equal(path_at(scene, 8, 0x1000), "/bin/ls");
	fork_of(scene, 7, 10, 10, 7 * second_ns);
	assert_string_equal(path_at(scene, 8, 0x1000), "");
	assert_string_equal(process_table_name(scene->table, 8), ":8");
}

static void a_reused_pid_is_not_forgotten_with_its_first_life(void **state)
{
	const struct scene *scene = *state;

	fork_of(scene, 7, 8, 8, 1);
	exit_of(scene, 8, 8, 5 * second_ns);
	fork_of(scene, 7, 8, 8, 5 * second_ns + 1);
	name(scene, 8, 8, "second", true);
	map(scene, 8, 0x1000, 0x1000, "/bin/second");
	fork_of(scene, 7, 9, 9, 9 * second_ns);
	assert_string_equal(path_at(scene, 8, 0x1000), "/bin/second");
}

static void a_process_lives_on_when_its_first_thread_has_ended(void **state)
{
	const struct scene *scene = *state;

	name(scene, 7, 7, "server", false);
	map(scene, 7, 0x1000, 0x1000, "/bin/server");
	fork_of(scene, 7, 7, 9, 1);
	exit_of(scene, 7, 7, second_ns);
	fork_of(scene, 1, 20, 20, 9 * second_ns);
	assert_string_equal(path_at(scene, 7, 0x1000), "/bin/server");
}

static void kernel_symbols_come_and_go(void **state)
{
	const struct scene *scene = *state;
	struct kernel_symbol symbol = {
		.start = 0xffffffffc0001000,
		.bytes = 64,
		.type = 1,
		.name = "bpf_prog_x",
	};
	const struct mapped *mapped;

	assert_int_equal(sink_call(scene->sink, on_kernel_symbol, &symbol), 0);
	mapped = process_table_find(scene->table, 7, symbol.start + 63, SPACE_KERNEL);
	assert_non_null(mapped);
	assert_true(mapped->file->is_kernel_symbol);
	symbol.flags = 1;
	assert_int_equal(sink_call(scene->sink, on_kernel_symbol, &symbol), 0);
	assert_null(process_table_find(scene->table, 7, symbol.start, SPACE_KERNEL));
}

static void the_generation_changes_with_the_mappings_alone(void **state)
{
	const struct scene *scene = *state;
	u64 before;

	map(scene, 7, 0x1000, 0x1000, "/bin/sh");
	fork_of(scene, 7, 8, 8, 1);
	before = process_table_generation(scene->table, 7, SPACE_USER);
	assert_int_equal(process_table_generation(scene->table, 8, SPACE_USER), before);
	name(scene, 7, 7, "renamed", false);
	assert_int_equal(process_table_generation(scene->table, 7, SPACE_USER), before);
	map(scene, 8, 0x2000, 0x1000, "/lib/x");
	assert_int_equal(process_table_generation(scene->table, 7, SPACE_USER), before);
	assert_int_not_equal(process_table_generation(scene->table, 8, SPACE_USER), before);
}

/* A program that is started again where addresses are not random. */
static void what_is_mapped_as_it_was_changes_nothing(void **state)
{
	const struct scene *scene = *state;
	u64 before;

	map(scene, 7, 0x1000, 0x1000, "/bin/sh");
	map(scene, 7, 0x4000, 0x1000, "/lib/x");
	before = process_table_generation(scene->table, 7, SPACE_USER);
	name(scene, 7, 7, "sh", true);
	map(scene, 7, 0x1000, 0x1000, "/bin/sh");
	map(scene, 7, 0x4000, 0x1000, "/lib/x");
	assert_int_equal(process_table_generation(scene->table, 7, SPACE_USER), before);
	map(scene, 7, 0x4000, 0x800, "/lib/x");
	assert_int_not_equal(process_table_generation(scene->table, 7, SPACE_USER), before);
	before = process_table_generation(scene->table, 7, SPACE_USER);
	map(scene, 7, 0x1000, 0x1000, "/bin/bash");
	assert_int_not_equal(process_table_generation(scene->table, 7, SPACE_USER), before);
	assert_string_equal(path_at(scene, 7, 0x1800), "/bin/bash");
	/* What a fork inherits is its parent's. */
	fork_of(scene, 7, 8, 8, 1);
	before = process_table_generation(scene->table, 7, SPACE_USER);
	map(scene, 8, 0x1000, 0x1000, "/bin/bash");
	assert_int_not_equal(process_table_generation(scene->table, 8, SPACE_USER), before);
	assert_int_equal(process_table_generation(scene->table, 7, SPACE_USER), before);
}

static void a_mapping_to_the_end_of_memory_does_not_wrap(void **state)
{
	const struct scene *scene = *state;

	map(scene, 7, 0x1000, ~0ULL, "/bin/hostile");
	assert_string_equal(path_at(scene, 7, ~0ULL - 1), "/bin/hostile");
	map(scene, 7, 0x1000, 0, "/bin/empty");
	assert_string_equal(path_at(scene, 7, 0x1000), "/bin/hostile");
}

static void held_mappings_stay_as_they_were(void **state)
{
	const struct scene *scene = *state;
	struct address_space *held;
	const struct mapped *mapped;

	assert_null(process_table_hold(scene->table, 7));
	fork_of(scene, 1, 7, 7, 1);
	map(scene, 7, 0x1000, 0x1000, "/bin/sh");
	held = process_table_hold(scene->table, 7);
	map(scene, 7, 0x1000, 0x2000, "/bin/ls");
	exit_of(scene, 7, 7, 2);
	fork_of(scene, 1, 8, 8, 3 * second_ns);
	assert_string_equal(path_at(scene, 7, 0x1000), "");
	mapped = process_table_find_held(held, 0x1000);
	assert_string_equal(mapped->file->path, "/bin/sh");
	assert_null(process_table_find_held(held, 0x2000));
	process_table_let_go(held);
}

static void a_table_of_code_tells_inodes_of_one_path_apart(void **state)
{
	struct process_table *table = process_table_new_of_code();
	struct event_sink *sink = process_table_sink(table);
	struct mapping mapping = {.pid = 7,
				  .space = SPACE_USER,
				  .start = 0x1000,
				  .bytes = 0x1000,
				  .path = "/a",
				  .inode = 1,
				  .major = 8,
				  .minor = 2};
	struct mapping replaced = mapping, data = mapping;
	const struct mapped_file *first, *second;

	(void)state;
	replaced.start = 0x5000;
	replaced.inode = 2;
	data.start = 0x9000;
	data.is_data = true;
	assert_int_equal(sink_call(sink, on_mapping, &mapping), 0);
	assert_int_equal(sink_call(sink, on_mapping, &replaced), 0);
	assert_int_equal(sink_call(sink, on_mapping, &data), 0);

	first = process_table_find(table, 7, 0x1000, SPACE_USER)->file;
	second = process_table_find(table, 7, 0x5000, SPACE_USER)->file;
	assert_true(first != second && first->inode == 1 && second->inode == 2);
	assert_true(second->major == 8 && second->minor == 2);
	assert_null(process_table_find(table, 7, 0x9000, SPACE_USER));
	process_table_free(table);
}

static void files_that_nobody_maps_are_forgotten_when_there_are_many(void **state)
{
	struct process_table *table = process_table_new_of_code();
	struct scene scene = {table, process_table_sink(table)};
	const struct mapped_file *stays;
	char path[32];

	assert_false(process_table_forget_files(table));
	fork_of(&scene, 1, 7, 7, 1);
	fork_of(&scene, 1, 8, 8, 1);
	for (u32 i = 0; i < 5000; i++) {
		snprintf(path, sizeof(path), "/bin/%u", i);
		map(&scene, i == 4999 ? 8 : 7, 0x1000 * (1 + i), 0x1000, path);
	}
	stays = process_table_find(table, 8, 0x1000 * 5000, SPACE_USER)->file;
	exit_of(&scene, 7, 7, 2);
	exit_of(&scene, 1, 1, 2 + 2 * second_ns); /* some time has passed */
	assert_true(process_table_forget_files(table));
	assert_ptr_equal(process_table_find(table, 8, 0x1000 * 5000, SPACE_USER)->file, stays);
	assert_string_equal(stays->path, "/bin/4999");
	assert_int_equal(stays->id, 1);
	assert_false(process_table_forget_files(table));
	map(&scene, 8, 0x10000000, 0x1000, "/bin/4999");
	assert_ptr_equal(process_table_find(table, 8, 0x10000000, SPACE_USER)->file, stays);
	process_table_free(table);
	(void)state;
}

/* What a watcher heard last, and how the table was then. */
struct hearing {
	struct process_watcher watcher;
	const struct scene *scene;
	u32 spaces, names; /* how often it was told */
	u32 pid, tid;
	const char *path; /* mapped at 0x1000 for that process; NULL: nothing */
	const char *name; /* of that thread */
};

static void hear_space(struct process_watcher *self, u32 pid)
{
	struct hearing *hearing = (struct hearing *)self;
	const struct mapped *mapped = process_table_find(hearing->scene->table, pid, 0x1000,
							 SPACE_USER);

	hearing->spaces++;
	hearing->pid = pid;
	hearing->path = mapped ? mapped->file->path : NULL;
}

static void hear_name(struct process_watcher *self, u32 tid)
{
	struct hearing *hearing = (struct hearing *)self;

	hearing->names++;
	hearing->tid = tid;
	hearing->name = process_table_name(hearing->scene->table, tid);
}

static void a_watcher_hears_of_changes_before_they_happen(void **state)
{
	const struct scene *scene = *state;
	struct hearing hearing = {{hear_space, hear_name}, .scene = scene};

	map(scene, 7, 0x1000, 0x1000, "/bin/one");
	name(scene, 7, 7, "one", false);
	process_table_watch(scene->table, &hearing.watcher);
	map(scene, 7, 0x1000, 0x1000, "/bin/two");
	assert_int_equal(hearing.pid, 7);
	assert_string_equal(hearing.path, "/bin/one");
	name(scene, 7, 7, "two", false);
	assert_int_equal(hearing.tid, 7);
	assert_string_equal(hearing.name, "one");
	fork_of(scene, 7, 8, 8, second_ns);
	assert_int_equal(hearing.pid, 8);
	assert_null(hearing.path);
	assert_int_equal(hearing.tid, 8);
	assert_string_equal(hearing.name, ":8");
	hearing.spaces = hearing.names = 0;
	exit_of(scene, 7, 7, 2 * second_ns);
	assert_int_equal(hearing.spaces + hearing.names, 0); /* its last samples may yet come */
	exit_of(scene, 8, 8, 4 * second_ns);		     /* the other one is forgotten */
	assert_int_equal(hearing.pid, 7);
	assert_string_equal(hearing.path, "/bin/two");
	assert_int_equal(hearing.tid, 7);
	assert_string_equal(hearing.name, "two");
}

static void count_mapped(void *count, const struct mapped *mapped)
{
	*(u32 *)count += !mapped->is_data;
}

static u32 copies_of(const struct scene *scene, u32 pid, u64 address)
{
	const struct mapped *mapped = process_table_find(scene->table, pid, address, SPACE_USER);
	struct address_space *space = process_table_hold(scene->table, pid);
	u32 count = 0;

	process_table_each_held(space, mapped->file->id, count_mapped, &count);
	process_table_let_go(space);
	return count;
}

static void what_an_old_program_left_behind_is_no_copy_of_a_file(void **state)
{
	const struct scene *scene = *state;

	map(scene, 7, 0x1000, 0x1000, "/lib/c");
	map(scene, 7, 0x8000, 0x1000, "/lib/c");
	map(scene, 7, 0x4000, 0x1000, "/bin/a");
	assert_int_equal(copies_of(scene, 7, 0x1000), 2);
	fork_of(scene, 7, 8, 8, 1);
	assert_int_equal(copies_of(scene, 8, 0x1000), 2);
	name(scene, 8, 8, "b", true);
	assert_int_equal(copies_of(scene, 8, 0x1000), 0);
	map(scene, 8, 0x1000, 0x1000, "/lib/c"); /* where it was */
	assert_int_equal(copies_of(scene, 8, 0x1000), 1);
	map(scene, 8, 0xc000, 0x1000, "/lib/c");
	assert_int_equal(copies_of(scene, 8, 0x1000), 2);
	assert_int_equal(copies_of(scene, 7, 0x1000), 2);
	assert_string_equal(path_at(scene, 8, 0x4000), "/bin/a");
}

#define scene_test(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		scene_test(a_mapping_holds_its_first_and_last_byte),
		scene_test(a_new_mapping_cuts_the_middle_of_an_old_one),
		scene_test(a_new_mapping_covers_several_old_ones),
		scene_test(a_child_sees_what_its_parent_had_and_no_more),
		scene_test(exec_keeps_mappings_until_others_cover_them),
		scene_test(threads_share_the_mappings_of_their_process),
		scene_test(threads_without_a_name_show_their_number),
		scene_test(what_ended_is_known_for_a_second_and_then_forgotten),
		scene_test(a_reused_pid_is_not_forgotten_with_its_first_life),
		scene_test(a_process_lives_on_when_its_first_thread_has_ended),
		scene_test(kernel_symbols_come_and_go),
		scene_test(the_generation_changes_with_the_mappings_alone),
		scene_test(what_is_mapped_as_it_was_changes_nothing),
		scene_test(a_watcher_hears_of_changes_before_they_happen),
		scene_test(a_mapping_to_the_end_of_memory_does_not_wrap),
		scene_test(held_mappings_stay_as_they_were),
		scene_test(what_an_old_program_left_behind_is_no_copy_of_a_file),
		scene_test(a_table_of_code_tells_inodes_of_one_path_apart),
		cmocka_unit_test(files_that_nobody_maps_are_forgotten_when_there_are_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
