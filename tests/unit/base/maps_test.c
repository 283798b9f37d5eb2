/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hash maps: u64 to id, bytes to id.
 */
#include "base/idmap.h"
#include "base/intern.h"
#include "base/memory.h"
#include "unit/unit.h"

#include <string.h>

static void a_key_never_put_reads_as_none(void **state)
{
	struct idmap map = {0};

	assert_int_equal(idmap_get(&map, 7), 0);
	*idmap_place(&map, 8) = 1;
	assert_int_equal(idmap_get(&map, 7), 0);
	idmap_release(&map);
	(void)state;
}

static void every_key_keeps_its_value_while_others_come_and_go(void **state)
{
	enum { KEYS = 20000 };
	struct idmap map = {0};

	for (u64 key = 0; key < KEYS; key++)
		*idmap_place(&map, key << 12) = (u32)key + 1;
	for (u64 key = 0; key < KEYS; key += 3)
		idmap_remove(&map, key << 12);
	for (u64 key = 0; key < KEYS; key++)
		assert_int_equal(idmap_get(&map, key << 12), key % 3 ? key + 1 : 0);
	assert_int_equal(map.count, KEYS - (KEYS + 2) / 3);
	idmap_release(&map);
	(void)state;
}

static void equal_bytes_have_one_id(void **state)
{
	struct intern intern = {0};
	u32 first = intern_text(&intern, "main");

	assert_int_equal(first, 1);
	assert_int_equal(intern_text(&intern, "bar"), 2);
	assert_int_equal(intern_bytes(&intern, "mainly", 4), first);
	assert_string_equal(intern_view(&intern, first), "main");
	assert_int_equal(intern_find(&intern, "foo", 3), 0);
	assert_int_equal(intern_text(&intern, NULL), 0);
	intern_release(&intern);
	(void)state;
}

static void views_stay_where_they_are_while_the_table_grows(void **state)
{
	struct intern intern = {0};
	const char *view = intern_view(&intern, intern_text(&intern, "first"));
	char name[32];

	for (int i = 0; i < 50000; i++) {
		snprintf(name, sizeof(name), "function_%d", i);
		assert_int_equal(intern_text(&intern, name), i + 2);
	}
	assert_ptr_equal(view, intern_view(&intern, 1));
	assert_string_equal(intern_view(&intern, 50001), "function_49999");
	intern_release(&intern);
	(void)state;
}

static void bytes_with_a_nul_inside_are_told_apart(void **state)
{
	struct intern intern = {0};
	u32 id = intern_bytes(&intern, "a\0b", 3);

	assert_int_not_equal(intern_bytes(&intern, "a\0c", 3), id);
	intern_release(&intern);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_never_put_reads_as_none),
		cmocka_unit_test(every_key_keeps_its_value_while_others_come_and_go),
		cmocka_unit_test(equal_bytes_have_one_id),
		cmocka_unit_test(views_stay_where_they_are_while_the_table_grows),
		cmocka_unit_test(bytes_with_a_nul_inside_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
