/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of a thread, by their bodies.
 */
#include "lbr/anchors.h"
#include "unit/unit.h"

/* The multiples of a power of two that meet in the table. */
static u32 body_of(u32 i)
{
	return (i + 1) << 12;
}

static void each_function_is_found_by_its_own_body(void **state)
{
	struct anchors anchors = {0};

	assert_null(anchors_find(&anchors, body_of(0)));
	for (u32 i = 0; i < 300; i++)
		anchors_make(&anchors, body_of(i), 0)->count = (u16)i;
	for (u32 i = 0; i < 300; i++) {
		assert_int_equal(anchors_find(&anchors, body_of(i))->count, i);
		assert_ptr_equal(anchors_make(&anchors, body_of(i), 0),
				 anchors_find(&anchors, body_of(i)));
		assert_int_equal(anchors_find(&anchors, body_of(i))->slot, SLOT_UNKNOWN);
	}
	assert_null(anchors_find(&anchors, body_of(300)));
	assert_int_equal(anchors.rows.count, 300);
	anchors_release(&anchors);
	assert_null(anchors_find(&anchors, body_of(0)));
	(void)state;
}

static void one_too_many_is_refused(void **state)
{
	struct anchors anchors = {0};

	for (u32 i = 0; i < ANCHORS_MAX; i++)
		assert_non_null(anchors_make(&anchors, body_of(i), 0));
	assert_null(anchors_make(&anchors, body_of(ANCHORS_MAX), 0));
	assert_non_null(anchors_make(&anchors, body_of(ANCHORS_MAX - 1), 0));
	anchors_release(&anchors);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_function_is_found_by_its_own_body),
		cmocka_unit_test(one_too_many_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
