/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Work in pieces, on all CPUs. */
#include "base/parallel.h"
#include "bpfprof/types.h"
#include "unit/unit.h"

#include <stdatomic.h>

enum { PIECES = 10000 };

static void count_piece(void *context, size_t index)
{
	atomic_uint *counts = context;

	atomic_fetch_add(&counts[index], 1);
}

static void every_piece_is_done_once(void **state)
{
	static atomic_uint counts[PIECES + 1];

	parallel_run(PIECES, count_piece, counts);
	for (size_t i = 0; i < PIECES; i++)
		assert_int_equal(counts[i], 1);
	assert_int_equal(counts[PIECES], 0);
	(void)state;
}

static void pieces_beside_the_caller_are_done_in_the_end(void **state)
{
	static atomic_uint counts[PIECES + 1];
	struct parallel_crew crew = {0};

	parallel_finish(&crew); /* nothing was begun */
	for (u32 round = 1; round <= 3; round++) {
		parallel_start(&crew, PIECES, count_piece, counts);
		parallel_finish(&crew);
		parallel_finish(&crew);
		for (size_t i = 0; i < PIECES; i++)
			assert_int_equal(counts[i], round);
	}
	assert_int_equal(counts[PIECES], 0);
	(void)state;
}

static void no_work_is_done_at_once(void **state)
{
	parallel_run(0, count_piece, NULL);
	(void)state;
}

static void *write_seven(void *context)
{
	*(int *)context = 7;
	return NULL;
}

static void what_was_begun_is_done_when_waited_for(void **state)
{
	struct parallel_task task = {0};
	int value = 0;

	parallel_wait(&task); /* nothing was begun */
	if (!parallel_begin(&task, write_seven, &value)) {
		assert_int_equal(value, 0); /* one CPU: it is left to the caller */
		return;
	}
	parallel_wait(&task);
	parallel_wait(&task);
	assert_int_equal(value, 7);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_piece_is_done_once),
		cmocka_unit_test(pieces_beside_the_caller_are_done_in_the_end),
		cmocka_unit_test(no_work_is_done_at_once),
		cmocka_unit_test(what_was_begun_is_done_when_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
