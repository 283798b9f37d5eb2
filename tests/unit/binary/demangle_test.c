/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Readable names of C++ and Rust symbols.
 */
#include "binary/demangle.h"
#include "unit/unit.h"

#include "base/memory.h"
#include "base/text.h"

#include <string.h>

static void check(const char *name, const char *expected)
{
	CLEANUP(freep) char *shown = demangle(name);

	if (!expected) {
		assert_null(shown);
		return;
	}
	assert_non_null(shown);
	assert_string_equal(shown, expected);
}

static void cpp_is_shown_without_parameters(void **state)
{
	(void)state;
	check("_ZN2ns3FooIlE3runERKSt6vectorIlSaIlEE", "ns::Foo<long>::run");
	check("_ZSt4swapIiEvRT_S1_", "std::swap<int>");
}

static void rust_of_both_schemes_is_shown_without_its_hash(void **state)
{
	(void)state;
	check("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
	check("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
}

/* Each level has the one before it twice. */
static void a_name_that_grows_without_bound_is_left_as_it_is(void **state)
{
	CLEANUP(text_release) struct text name = {0};

	(void)state;
	text_append(&name, "_Z1fISt4pairIiiES_IS0_S0_E");
	for (const char *level = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"; *level; level++)
		text_appendf(&name, "S_IS%c_S%c_E", *level, *level);
	text_append(&name, "EvT_");
	check(text_view(&name), NULL);
}

static void plt_entries_keep_their_suffix(void **state)
{
	(void)state;
	check("_ZN3foo3barEv@plt", "foo::bar@plt");
	check("_not_mangled@plt", NULL);
}

static void plain_names_are_not_mangled(void **state)
{
	(void)state;
	check("main", NULL);
	check("", NULL);
	check("_", NULL);
	check("_start", NULL);
	check("_Z", NULL);
	check("@plt", NULL);
	check("caml_alloc", NULL);
}

static void a_monstrous_name_is_left_alone(void **state)
{
	char *name = must_alloc(100001);

	(void)state;
	memset(name, 'P', 100000);
	name[0] = '_';
	name[1] = 'Z';
	check(name, NULL);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpp_is_shown_without_parameters),
		cmocka_unit_test(rust_of_both_schemes_is_shown_without_its_hash),
		cmocka_unit_test(a_name_that_grows_without_bound_is_left_as_it_is),
		cmocka_unit_test(plt_entries_keep_their_suffix),
		cmocka_unit_test(plain_names_are_not_mangled),
		cmocka_unit_test(a_monstrous_name_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
