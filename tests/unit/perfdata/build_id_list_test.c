/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Build ids by path: only where the path says which file it was. */
#include "perfdata/build_id_list.h"

#include "unit/unit.h"

#include <string.h>

/* A mapping of /bin/x; id 0: it has none. */
static struct mapping of_x(u64 inode, u32 generation, u8 id)
{
	return (struct mapping){
		.path = "/bin/x",
		.space = SPACE_USER,
		.major = 8,
		.inode = inode,
		.inode_generation = generation,
		.build_id = {id},
		.build_id_bytes = id ? 20 : 0,
	};
}

/* How many bytes the list has with these mappings. */
static size_t bytes_of(const struct mapping *mappings, size_t count)
{
	struct build_id_list list = {0};
	struct text payload = {0};
	size_t bytes;

	for (size_t i = 0; i < count; i++)
		build_id_list_add(&list, &mappings[i]);
	build_id_list_put(&list, &payload);
	bytes = payload.length;
	assert_true(!bytes || memmem(payload.bytes, bytes, "/bin/x", sizeof("/bin/x")));
	build_id_list_release(&list);
	text_release(&payload);
	return bytes;
}

#define BYTES_OF(...)                             \
	bytes_of((struct mapping[]){__VA_ARGS__}, \
		 sizeof((struct mapping[]){__VA_ARGS__}) / sizeof(struct mapping))

static void a_path_is_listed_once(void **state)
{
	size_t once = BYTES_OF(of_x(5, 1, 7));

	assert_true(once > 0);
	assert_int_equal(BYTES_OF(of_x(5, 1, 0)), 0);
	assert_int_equal(BYTES_OF(of_x(5, 1, 0), of_x(5, 1, 7), of_x(5, 1, 0), of_x(5, 1, 7)),
			 once);
	(void)state;
}

/* Where the kernel reads build ids, mappings that have one have no inode. */
static void a_path_of_which_inodes_are_known_in_part_is_listed(void **state)
{
	assert_true(BYTES_OF(of_x(0, 0, 7), of_x(5, 1, 0)) > 0);
	(void)state;
}

static void a_path_of_two_files_is_not_listed(void **state)
{
	struct mapping elsewhere = of_x(5, 1, 0);

	elsewhere.major = 9;
	assert_int_equal(BYTES_OF(of_x(5, 1, 7), of_x(6, 1, 0)), 0);
	assert_int_equal(BYTES_OF(of_x(5, 1, 0), of_x(5, 2, 7)), 0);
	assert_int_equal(BYTES_OF(of_x(5, 1, 7), elsewhere), 0);
	assert_int_equal(BYTES_OF(of_x(0, 0, 7), of_x(0, 0, 8)), 0);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_is_listed_once),
		cmocka_unit_test(a_path_of_which_inodes_are_known_in_part_is_listed),
		cmocka_unit_test(a_path_of_two_files_is_not_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
