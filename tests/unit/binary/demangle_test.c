/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Readable names of C++ and Rust symbols.
 */
#include "binary/demangle.h"
#include "unit/unit.h"

#include "base/memory.h"

#include <string.h>

static void check(const char *name, int brief, const char *expected)
{
	CLEANUP(freep) char *shown = demangle(name, brief);

	if (!expected) {
		assert_null(shown);
		return;
	}
	assert_non_null(shown);
	assert_string_equal(shown, expected);
}

static void cpp_is_shown_without_parameters_if_brief(void **state)
{
	(void)state;
	check("_ZN2ns3FooIlE3runERKSt6vectorIlSaIlEE", 1, "ns::Foo<long>::run");
	check("_ZN2ns3FooIlE3runERKSt6vectorIlSaIlEE", 0,
	      "ns::Foo<long>::run(std::vector<long, std::allocator<long> > const&)");
	check("_ZSt4swapIiEvRT_S1_", 1, "std::swap<int>");
}

static void rust_of_both_schemes_is_shown_without_its_hash(void **state)
{
	(void)state;
	check("_ZN4core3fmt5write17h0123456789abcdefE", 1, "core::fmt::write");
	check("_RNvNtCs1234_7mycrate3foo3bar", 1, "mycrate::foo::bar");
}

static void plt_entries_keep_their_suffix(void **state)
{
	(void)state;
	check("_ZN3foo3barEv@plt", 1, "foo::bar@plt");
	check("_not_mangled@plt", 1, NULL);
}

static void plain_names_are_not_mangled(void **state)
{
	(void)state;
	check("main", 1, NULL);
	check("", 1, NULL);
	check("_", 1, NULL);
	check("_start", 1, NULL);
	check("_Z", 1, NULL);
	check("@plt", 1, NULL);
	check("caml_alloc", 1, NULL);
}

static void a_monstrous_name_is_left_alone(void **state)
{
	char *name = must_alloc(100001);

	(void)state;
	memset(name, 'P', 100000);
	name[0] = '_';
	name[1] = 'Z';
	check(name, 1, NULL);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpp_is_shown_without_parameters_if_brief),
		cmocka_unit_test(rust_of_both_schemes_is_shown_without_its_hash),
		cmocka_unit_test(plt_entries_keep_their_suffix),
		cmocka_unit_test(plain_names_are_not_mangled),
		cmocka_unit_test(a_monstrous_name_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
