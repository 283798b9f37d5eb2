/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Between which rows an address is to be looked for.
 */
#include "base/address_index.h"
#include "base/memory.h"
#include "unit/unit.h"

/* How many addresses are not above this one. */
static size_t count_up_to(const u64 *addresses, size_t count, u64 address)
{
	size_t up_to = 0;

	while (up_to < count && addresses[up_to] <= address)
		up_to++;
	return up_to;
}

static void assert_holds(const u64 *addresses, size_t count, u64 address)
{
	struct address_index index;
	size_t least, most, wanted = count_up_to(addresses, count, address);

	address_index_make(&index, addresses, count, sizeof(*addresses));
	address_index_narrow(&index, address, &least, &most);
	assert_true(least <= wanted);
	assert_true(wanted <= most);
	assert_true(most <= count);
	address_index_release(&index);
}

static void every_address_is_between_its_rows(void **state)
{
	static const u64 addresses[] = {0x1000, 0x1001, 0x1001, 0x1040, 0x2000, 0x2ff0, 0x9000};

	for (u64 address = 0xf00; address < 0xa000; address++)
		assert_holds(addresses, ARRAY_COUNT(addresses), address);
	(void)state;
}

static void addresses_may_be_as_far_apart_as_there_are(void **state)
{
	static const u64 addresses[] = {0, 5, 1ULL << 63, ~0ULL};
	static const u64 asked[] = {0, 1, 5, 6, (1ULL << 63) - 1, 1ULL << 63, ~0ULL - 1, ~0ULL};

	for (size_t i = 0; i < ARRAY_COUNT(asked); i++)
		assert_holds(addresses, ARRAY_COUNT(addresses), asked[i]);
	(void)state;
}

static void of_one_or_of_none_there_is_little_to_say(void **state)
{
	static const u64 one = 77;
	struct address_index index = {0};
	size_t least = 3, most = 4;

	address_index_narrow(&index, 5, &least, &most);
	assert_int_equal(least, 0);
	assert_int_equal(most, 0);
	for (u64 address = one - 1; address <= one + 1; address++)
		assert_holds(&one, 1, address);
	(void)state;
}

static void few_rows_are_left_where_addresses_lie_evenly(void **state)
{
	enum { COUNT = 1000, FEW = 2 };
	u64 addresses[COUNT];
	struct address_index index;
	size_t least, most;

	for (u32 i = 0; i < COUNT; i++)
		addresses[i] = 0x400000 + 256ULL * i;
	address_index_make(&index, addresses, COUNT, sizeof(*addresses));
	for (u32 i = 0; i < COUNT; i++) {
		address_index_narrow(&index, addresses[i] + 17, &least, &most);
		assert_true(most - least <= FEW);
	}
	address_index_release(&index);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_address_is_between_its_rows),
		cmocka_unit_test(addresses_may_be_as_far_apart_as_there_are),
		cmocka_unit_test(of_one_or_of_none_there_is_little_to_say),
		cmocka_unit_test(few_rows_are_left_where_addresses_lie_evenly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
