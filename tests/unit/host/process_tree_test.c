/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who descends from whom.
 */
#include "host/process_tree.h"

#include "base/memory.h"
#include "unit/unit.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

static void children_are_found_in_any_order_and_any_depth(void **state)
{
	/* 5 ← 9 ← 7 ← 3, and 8 beside */
	struct process_parent rows[] = {{1, 0}, {3, 7}, {5, 1}, {7, 9}, {8, 1}, {9, 5}};
	struct idmap family = {0};

	*idmap_place(&family, 5) = 1;
	assert_int_equal(processes_descending(rows, 6, &family), 3);
	assert_int_equal(family.count, 4);
	assert_int_equal(rows[0].pid + rows[1].pid + rows[2].pid, 3 + 7 + 9);
	assert_int_equal(idmap_get(&family, 8), 0);
	assert_int_equal(idmap_get(&family, 1), 0);
	idmap_release(&family);
	(void)state;
}

static void a_process_with_no_children_has_no_family(void **state)
{
	struct process_parent rows[] = {{1, 0}, {2, 1}, {3, 2}};
	struct idmap family = {0};

	*idmap_place(&family, 3) = 1;
	assert_int_equal(processes_descending(rows, 3, &family), 0);
	idmap_release(&family);
	(void)state;
}

static void proc_shows_our_child_as_ours(void **state)
{
	CLEANUP(freep) struct process_parent *rows = NULL;
	pid_t child = fork();
	bool is_ours = false;
	size_t count;

	if (!child) {
		pause();
		_exit(0);
	}
	assert_int_equal(processes_parents(&rows, &count), 0);
	for (size_t i = 0; i < count; i++)
		is_ours |= rows[i].pid == (u32)child && rows[i].parent == (u32)getpid();
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_true(is_ours);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_are_found_in_any_order_and_any_depth),
		cmocka_unit_test(a_process_with_no_children_has_no_family),
		cmocka_unit_test(proc_shows_our_child_as_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
