/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two lists of modules: what came, what went, and since when.
 */
#include "host/kernel_modules.h"
#include "unit/unit.h"

#include <string.h>

#define VFAT	 "vfat 24576 1 fat, Live 0xffffffffc0900000\n"
#define NF	 "nf_tables 311296 0 - Live 0xffffffffc0a51000 (OE)\n"
#define SND	 "snd 4096 0 - Live 0xffffffffc0901000\n" /* where vfat was */
#define STARTING "nf_tables 311296 1 - Loading 0xffffffffc0a51000 (OE+)\n"
#define GOING	 "vfat 24576 0 fat, Unloading 0xffffffffc0900000 (-)\n"

enum { BEFORE_NS = 100, NOW_NS = 200 };

struct compared {
	struct kernel_modules before, now;
	struct module_changes changes;
};

static struct bytes text_of(const char *text)
{
	return (struct bytes){.start = (const u8 *)text, .length = strlen(text)};
}

static void compare(struct compared *compared)
{
	struct module_times times = {BEFORE_NS, NOW_NS};

	kernel_modules_compare(&compared->before, &compared->now, times, &compared->changes);
}

static struct compared compare_texts(const char *before, const char *now)
{
	struct compared compared;

	kernel_modules_read(text_of(before), &compared.before);
	kernel_modules_read(text_of(now), &compared.now);
	compare(&compared);
	return compared;
}

static void release(struct compared *compared)
{
	kernel_modules_release(&compared->before);
	kernel_modules_release(&compared->now);
	kernel_modules_release(&compared->changes.gone);
	kernel_modules_release(&compared->changes.came);
}

/* What came, with since when. */
static void assert_came(const struct compared *compared, const char *name, u64 since_ns)
{
	assert_int_equal(compared->changes.came.rows.count, 1);
	assert_string_equal(compared->changes.came.rows.items[0].name, name);
	assert_int_equal(compared->changes.came.rows.items[0].since_ns, since_ns);
}

static void assert_gone(const struct compared *compared, const char *name)
{
	assert_int_equal(compared->changes.gone.rows.count, 1);
	assert_string_equal(compared->changes.gone.rows.items[0].name, name);
}

static void assert_unchanged(const struct compared *compared)
{
	assert_int_equal(compared->changes.gone.rows.count, 0);
	assert_int_equal(compared->changes.came.rows.count, 0);
}

static void who_uses_a_module_is_no_change(void **state)
{
	CLEANUP(release)
	struct compared compared = compare_texts(VFAT NF,
						 NF "vfat 24576 0 - Live 0xffffffffc0900000\n");

	assert_unchanged(&compared);
	(void)state;
}

static void one_that_came_to_a_free_place_is_there_since_the_look_before(void **state)
{
	CLEANUP(release) struct compared compared = compare_texts(VFAT, VFAT NF);

	assert_came(&compared, "nf_tables", BEFORE_NS);
	assert_int_equal(compared.changes.gone.rows.count, 0);
	(void)state;
}

static void one_that_is_not_listed_any_more_is_gone(void **state)
{
	CLEANUP(release) struct compared compared = compare_texts(VFAT NF, NF);

	assert_gone(&compared, "vfat");
	assert_int_equal(compared.changes.came.rows.count, 0);
	(void)state;
}

static void one_in_the_place_of_another_is_there_since_now(void **state)
{
	CLEANUP(release) struct compared compared = compare_texts(VFAT, SND);

	assert_gone(&compared, "vfat");
	assert_came(&compared, "snd", NOW_NS);
	(void)state;
}

static void one_that_was_loaded_again_is_another_one(void **state)
{
	CLEANUP(release) struct compared compared;

	kernel_modules_read(text_of(VFAT), &compared.before);
	kernel_modules_read(text_of(VFAT), &compared.now);
	compared.before.rows.items[0].instance = 7;
	compared.now.rows.items[0].instance = 8;
	compare(&compared);
	assert_gone(&compared, "vfat");
	assert_came(&compared, "vfat", NOW_NS);
	(void)state;
}

static void one_that_starts_comes_when_it_is_live(void **state)
{
	CLEANUP(release) struct compared starting = compare_texts(VFAT, VFAT STARTING);
	CLEANUP(release) struct compared live = compare_texts(VFAT STARTING, VFAT NF);

	assert_unchanged(&starting);
	assert_true(kernel_modules_are_moving(&starting.now));
	assert_came(&live, "nf_tables", BEFORE_NS);
	assert_false(kernel_modules_are_moving(&live.now));
	(void)state;
}

static void one_whose_start_failed_keeps_its_place_from_being_another_ones(void **state)
{
	CLEANUP(release)
	struct compared compared = compare_texts(STARTING,
						 "snd 4096 0 - Live 0xffffffffc0a51000\n");

	assert_came(&compared, "snd", NOW_NS);
	(void)state;
}

static void one_that_is_about_to_go_is_still_there(void **state)
{
	CLEANUP(release) struct compared compared = compare_texts(VFAT, GOING);

	assert_unchanged(&compared);
	assert_true(kernel_modules_are_moving(&compared.now));
	(void)state;
}

static void hidden_addresses_are_no_modules(void **state)
{
	CLEANUP(release)
	struct compared compared = compare_texts(
		"", "vfat 24576 1 fat, Live 0x0000000000000000\nbroken\n");

	assert_int_equal(compared.now.rows.count, 0);
	assert_unchanged(&compared);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_uses_a_module_is_no_change),
		cmocka_unit_test(one_that_came_to_a_free_place_is_there_since_the_look_before),
		cmocka_unit_test(one_that_is_not_listed_any_more_is_gone),
		cmocka_unit_test(one_in_the_place_of_another_is_there_since_now),
		cmocka_unit_test(one_that_was_loaded_again_is_another_one),
		cmocka_unit_test(one_that_starts_comes_when_it_is_live),
		cmocka_unit_test(one_whose_start_failed_keeps_its_place_from_being_another_ones),
		cmocka_unit_test(one_that_is_about_to_go_is_still_there),
		cmocka_unit_test(hidden_addresses_are_no_modules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
