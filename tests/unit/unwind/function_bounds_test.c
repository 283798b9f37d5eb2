/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where functions lie in their file.
 */
#include "unit/cfi_reading.h"
#include "unit/unit.h"

#include "unwind/unwind.h"

static const u64 first[2] = {START, START + 0x100};
static const u64 second[2] = {START + 0x200, START + 0x300};
static const u64 half[2] = {MADE_IMAGE_BYTES - 0x100, MADE_IMAGE_BYTES + 0x100};
static const u64 outside[2] = {MADE_IMAGE_BYTES, MADE_IMAGE_BYTES + 0x100};

/* The places of functions that stand in this order in .eh_frame; offsets are addresses here. */
static void read_places(const u64 *const *ranges, size_t count, struct function_places *places)
{
	struct reading reading = reading_new();
	struct made_cfi *made = reading.made;
	u64 section = made_begin(made, false), cie = made_usual_cie(made);

	for (size_t i = 0; i < count; i++)
		made_fde(made, cie, ranges[i], MADE_BYTES(0x0e, 16));
	made_end(made, section, SHF_ALLOC);
	assert_int_equal(function_places_read(made_image(made), places), 0);
	reading_release(&reading);
}

static void functions_are_found_by_file_offset_whatever_their_order(void **state)
{
	const u64 *const ranges[] = {second, first};
	struct function_places places = {0};

	read_places(ranges, ARRAY_COUNT(ranges), &places);
	assert_int_equal(places.items.count, 2);
	assert_null(function_places_find(&places, first[0] - 1));
	assert_int_equal(function_places_find(&places, first[0])->address, first[0]);
	assert_int_equal(function_places_find(&places, first[1] - 1)->address, first[0]);
	assert_null(function_places_find(&places, first[1]));
	assert_int_equal(function_places_find(&places, second[0])->address, second[0]);
	assert_null(function_places_find(&places, second[1]));
	vec_release(&places.items);
	(void)state;
}

static void what_is_not_in_the_file_has_no_place(void **state)
{
	const u64 *const ranges[] = {half, outside, first, first};
	struct function_places places = {0};

	read_places(ranges, ARRAY_COUNT(ranges), &places);
	assert_int_equal(places.items.count, 2); /* and each start once */
	assert_int_equal(places.items.items[1].start, half[0]);
	assert_int_equal(places.items.items[1].end, MADE_IMAGE_BYTES);
	assert_null(function_places_find(&places, outside[0]));
	vec_release(&places.items);
	(void)state;
}

static void nothing_is_found_where_nothing_is_known(void **state)
{
	struct function_places places = {0};

	assert_null(function_places_find(&places, 0));
	assert_null(function_places_find(&places, UINT64_MAX));
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_found_by_file_offset_whatever_their_order),
		cmocka_unit_test(what_is_not_in_the_file_has_no_place),
		cmocka_unit_test(nothing_is_found_where_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
