/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sorting in pieces sorts the whole.
 */
#include "unit/unit.h"

#include "base/memory.h"
#include "base/sort.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_any_number_are_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
