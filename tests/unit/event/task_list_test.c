/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes and threads of a recording, as a list and as a tree. */
#include "unit/unit.h"

#include "event/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int setup(void **state)
{
	*state = task_list_new(true);
	return 0;
}

static int teardown(void **state)
{
	task_list_free(*state);
	return 0;
}

static void name(struct task_list *tasks, u32 pid, u32 tid, const char *comm)
{
	struct thread_name event = {.pid = pid, .tid = tid, .name = comm};

	sink_call(task_list_sink(tasks), on_name, &event);
}

static void begin(struct task_list *tasks, u32 parent, u32 pid, u32 tid)
{
	struct thread_life event = {
		.pid = pid, .tid = tid, .parent_pid = parent, .parent_tid = parent};

	sink_call(task_list_sink(tasks), on_fork, &event);
}

static void map(struct task_list *tasks, u32 pid, u64 start, u64 end, const char *path)
{
	struct mapping event = {
		.pid = pid,
		.tid = pid,
		.space = SPACE_USER,
		.start = start,
		.bytes = end - start,
		.file_offset = start,
		.protection = 5,
		.path = path,
	};

	sink_call(task_list_sink(tasks), on_mapping, &event);
}

static void prints(struct task_list *tasks, const char *wanted)
{
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	task_list_print(tasks, out);
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
}

#define HEAD                                   \
	"#      pid      tid     ppid  comm\n" \
	"         0        0       -1 |swapper\n"

static void a_task_stands_below_the_one_that_began_it(void **state)
{
	name(*state, 7, 7, "sh");
	begin(*state, 7, 9, 9);
	begin(*state, 7, 8, 8);
	begin(*state, 8, 8, 300);
	name(*state, 8, 8, "ls\033");
	/* 300 comes before 7 … 9 where perf keeps threads: by its last byte */
	prints(*state, HEAD "         7        7       -1 |sh\n"
			    "         8        8        7 | ls\\x1b\n"
			    "         8      300        8 |  sh\n"
			    "         9        9        7 | sh\n");
}

static void a_number_that_is_given_again_is_another_task(void **state)
{
	name(*state, 7, 7, "a");
	name(*state, 8, 8, "b");
	begin(*state, 7, 8, 8);
	prints(*state, HEAD "         7        7       -1 |a\n"
			    "         8        8        7 | a\n");
}

static void mappings_cut_older_ones_and_are_inherited(void **state)
{
	name(*state, 7, 7, "a");
	map(*state, 7, 0x1000, 0x5000, "/old");
	begin(*state, 7, 8, 8);
	map(*state, 8, 0x2000, 0x3000, "//anon");
	prints(*state,
	       HEAD "         7        7       -1 |a\n"
		    "                                1000-5000 r-xp 00001000 0 /old\n"
		    "         8        8        7 | a\n"
		    "                                 1000-2000 r-xp 00001000 0 /old\n"
		    "                                 2000-3000 r-xp 00002000 0 /tmp/perf-8.map\n"
		    "                                 3000-5000 r-xp 00003000 0 /old\n");
}

static void tasks_that_began_each_other_do_not_hang_it(void **state)
{
	begin(*state, 8, 7, 7);
	begin(*state, 7, 8, 8);
	begin(*state, 9, 9, 9);
	prints(*state, HEAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_task_stands_below_the_one_that_began_it, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_number_that_is_given_again_is_another_task, setup,
						teardown),
		cmocka_unit_test_setup_teardown(mappings_cut_older_ones_and_are_inherited, setup,
						teardown),
		cmocka_unit_test_setup_teardown(tasks_that_began_each_other_do_not_hang_it, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
