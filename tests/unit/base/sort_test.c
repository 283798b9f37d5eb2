/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sorting in pieces sorts the whole.
 */
#include "unit/unit.h"

#include "base/memory.h"
#include "base/sort.h"

#include <stdbool.h>
#include <string.h>

static int compare_keys(const void *left, const void *right, void *context)
{
	const u32 *keys = context;
	u32 a = keys[*(const u32 *)left], b = keys[*(const u32 *)right];

	return (a > b) - (a < b);
}

static void check_sorted(size_t count)
{
	CLEANUP(freep) u32 *keys = must_alloc_array(count, sizeof(*keys));
	CLEANUP(freep) u32 *rows = must_alloc_array(count, sizeof(*rows));
	CLEANUP(freep) u32 *seen = must_alloc_array(count, sizeof(*seen));

	for (size_t i = 0; i < count; i++) {
		keys[i] = (u32)(i * 2654435761u) >> 12; /* some are equal */
		rows[i] = (u32)i;
	}
	sort_rows(rows, count, compare_keys, keys);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(seen[rows[i]]++, 0);
		assert_true(i == 0 || keys[rows[i - 1]] <= keys[rows[i]]);
	}
}

static void rows_of_any_number_are_sorted(void **state)
{
	static const size_t counts[] = {0, 1, 2, 4095, 4096, 8191, 8192, 12289, 50000, 100003};

	for (size_t i = 0; i < ARRAY_COUNT(counts); i++)
		check_sorted(counts[i]);
	(void)state;
}

/* No order at all: of three, each comes before the next. */
static int compare_in_circles(const void *left, const void *right, void *context)
{
	u32 step = (*(const u32 *)right % 3 + 3 - *(const u32 *)left % 3) % 3;

	(void)context;
	return step == 0 ? 0 : step == 1 ? -1 : 1;
}

static void sort_halves(u32 *rows, size_t count)
{
	size_t half = count / 2, left = 0, right = half;
	CLEANUP(freep) u32 *sorted = must_alloc_array(count, sizeof(*sorted));

	if (count < 2)
		return;
	sort_halves(rows, half);
	sort_halves(rows + half, count - half);
	for (size_t at = 0; at < count; at++) {
		bool takes_left = right == count ||
				  (left < half &&
				   compare_in_circles(&rows[left], &rows[right], NULL) <= 0);

		sorted[at] = rows[takes_left ? left++ : right++];
	}
	memcpy(rows, sorted, count * sizeof(*rows));
}

static void the_same_rows_meet_on_any_number_of_cpus(void **state)
{
	enum { COUNT = 50001 };
	CLEANUP(freep) u32 *rows = must_alloc_array(COUNT, sizeof(*rows));
	CLEANUP(freep) u32 *alone = must_alloc_array(COUNT, sizeof(*alone));

	for (u32 i = 0; i < COUNT; i++)
		rows[i] = alone[i] = i * 2654435761u >> 8;
	sort_rows(rows, COUNT, compare_in_circles, NULL);
	sort_halves(alone, COUNT);
	assert_memory_equal(rows, alone, COUNT * sizeof(*rows));
	(void)state;
}

static void equal_keys_keep_their_order(void **state)
{
	enum { COUNT = 5000, KEYS = 700 };
	struct sort_key keys[COUNT], other[COUNT];
	const struct sort_key *sorted;

	for (u32 i = 0; i < COUNT; i++)
		keys[i] = (struct sort_key){(u64)(i * 2654435761u % KEYS) << 30, i};
	sorted = sort_by_key(keys, other, COUNT);
	for (u32 i = 1; i < COUNT; i++)
		assert_true(
			sorted[i - 1].key < sorted[i].key ||
			(sorted[i - 1].key == sorted[i].key && sorted[i - 1].row < sorted[i].row));
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_keys_keep_their_order),
		cmocka_unit_test(rows_of_any_number_are_sorted),
		cmocka_unit_test(the_same_rows_meet_on_any_number_of_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
