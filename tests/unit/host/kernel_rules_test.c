/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where kallsyms says that the kernel's unwind rules are. */
#include "host/kernel_rules.h"
#include "unit/unit.h"

#include <string.h>

#define TEXT                                     \
	"ffffffff81000000 T _stext\n"            \
	"ffffffff81000100 T return_to_handler\n" \
	"ffffffff81000200 T arch_rethook_trampoline\n"
#define RULES                                        \
	"ffffffff82000000 T _etext\n"                \
	"ffffffff83000000 r __start_orc_unwind_ip\n" \
	"ffffffff83000400 r __stop_orc_unwind_ip\n"  \
	"ffffffff83000400 r __start_orc_unwind\n"    \
	"ffffffffc0001000 t _etext\t[a_module]\n"

static struct kernel_rules find(const char *kallsyms)
{
	return kernel_rules_find(
		(struct bytes){.start = (const u8 *)kallsyms, .length = strlen(kallsyms)});
}

static void they_lie_between_symbols(void **state)
{
	struct kernel_rules rules = find(TEXT RULES);

	(void)state;
	assert_int_equal(rules.count, 256);
	assert_true(rules.addresses == 0xffffffff83000000 && rules.entries == 0xffffffff83000400);
	assert_true(rules.text_start == 0xffffffff81000000 && rules.text_end == 0xffffffff82000000);
	assert_true(rules.trampolines[0] == 0xffffffff81000100 &&
		    rules.trampolines[1] == 0xffffffff81000200);
}

static void without_them_there_are_none(void **state)
{
	(void)state;
	assert_int_equal(find("").count, 0);
	assert_int_equal(find(TEXT).count, 0);
	assert_int_equal(find(RULES).count, 0);
}

static void hidden_addresses_are_none(void **state)
{
	(void)state;
	assert_int_equal(find("0000000000000000 T _stext\n"
			      "0000000000000000 T _etext\n"
			      "0000000000000000 r __start_orc_unwind_ip\n"
			      "0000000000000000 r __stop_orc_unwind_ip\n"
			      "0000000000000000 r __start_orc_unwind\n")
				 .count,
			 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_lie_between_symbols),
		cmocka_unit_test(without_them_there_are_none),
		cmocka_unit_test(hidden_addresses_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
