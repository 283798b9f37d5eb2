/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Modules that come, go and take each other's places: an address has the name of its time, or none.
 */
#include "unit/continuous/window_scene.h"

static const u64 module = 0xffffffffc1000000, nowhere = 0xff00000000000000;

static void load(const struct scene *scene, u64 start, const char *path, u64 time_ns)
{
	sink_call(scene->sink, on_mapping,
		  &(struct mapping){
			  .time_ns = time_ns,
			  .pid = ~0u,
			  .space = SPACE_KERNEL,
			  .start = start,
			  .bytes = 0x2000,
			  .path = path,
		  });
}

static void unload(const struct scene *scene, u64 start, u64 time_ns)
{
	sink_call(scene->sink, on_kernel_symbol,
		  &(struct kernel_symbol){
			  .time_ns = time_ns, .start = start, .flags = 1, .name = "[gone]"});
}

/* What the window told in its lines of mappings and samples has these words. */
static bool told(const struct scene *scene, const char *format, u64 address)
{
	CLEANUP(freep) char *words = must_format(format, (unsigned long long)address);

	return strstr(text_view(&scene->told.text), words);
}

static void a_module_that_was_loaded_later_has_its_name_from_then_on(void **state)
{
	struct scene *scene = *state;

	load(scene, module, "[late]", 500);
	sample(scene, SHELL, SHELL, module + 4, 400);
	sample(scene, SHELL, SHELL, module + 4, 600);
	turn(scene, 1000);
	assert_true(told(scene, "500 map -1 [late] %llx\n", module));
	assert_true(told(scene, "600 sample 10 %llx ", module + 4));
	assert_true(told(scene, "400 sample 10 %llx ", nowhere + (u32)(module + 4)));
}

static void a_module_that_was_loaded_later_is_told_to_who_keeps_names(void **state)
{
	struct scene *scene = *state;

	load(scene, module, "[first]", 0);
	load(scene, module + 0x10000, "[late]", 500);
	assert_string_equal(text_view(&scene->binaries), "4294967295 [late] ");
}

static void a_module_that_went_has_no_name_any_more(void **state)
{
	struct scene *scene = *state;

	load(scene, module, "[short]", 0);
	unload(scene, module, 500);
	sample(scene, SHELL, SHELL, module + 4, 500);
	sample(scene, SHELL, SHELL, module + 4, 600);
	turn(scene, 1000);
	assert_true(told(scene, "0 map -1 [short] %llx\n", module));
	assert_true(told(scene, "sample 10 %llx x1 ", module + 4));
	assert_true(told(scene, "sample 10 %llx x1 ", nowhere + (u32)(module + 4)));
	sample(scene, SHELL, SHELL, module + 4, 1500);
	turn(scene, 2000);
	assert_false(told(scene, "map -1 [short] %llx\n", module));
}

/* The same place of the same thread, so they would be one sum. */
static void who_takes_a_place_over_lies_beside_who_had_it(void **state)
{
	struct scene *scene = *state;
	const u64 beside = nowhere + (3ULL << 32); /* behind the scene's two rows, and the first */

	load(scene, module, "[first]", 0);
	sample(scene, SHELL, SHELL, module + 4, 400);
	unload(scene, module, 500);
	load(scene, module, "[second]", 700);
	sample(scene, SHELL, SHELL, module + 4, 600); /* whose it was then nobody knows */
	sample(scene, SHELL, SHELL, module + 4, 800);
	turn(scene, 1000);
	assert_true(told(scene, "0 map -1 [first] %llx\n", module));
	assert_true(told(scene, "700 map -1 [second] %llx\n", beside));
	assert_true(told(scene, "400 sample 10 %llx ", module + 4));
	assert_true(told(scene, "600 sample 10 %llx ", nowhere + (u32)(module + 4)));
	assert_true(told(scene, "800 sample 10 %llx ", beside + 4));
}

static void who_took_a_place_over_has_it_in_the_next_window(void **state)
{
	struct scene *scene = *state;

	load(scene, module, "[first]", 0);
	unload(scene, module, 500);
	load(scene, module - 0x1000, "[second]", 700);
	turn(scene, 1000);
	sample(scene, SHELL, SHELL, module + 4, 1200);
	turn(scene, 2000);
	assert_true(told(scene, "0 map -1 [second] %llx\n", module - 0x1000));
	assert_true(told(scene, "sample 10 %llx ", module + 4));
}

/* A BPF program may get the memory before we have looked for modules. */
static void a_program_in_the_place_of_a_module_stays_when_that_is_missed(void **state)
{
	struct scene *scene = *state;
	const u64 beside = nowhere + (3ULL << 32);

	load(scene, module, "[first]", 0);
	sink_call(scene->sink, on_kernel_symbol,
		  &(struct kernel_symbol){
			  .time_ns = 600, .start = module, .bytes = 0x100, .name = "prog"});
	unload(scene, module, 500);
	sample(scene, SHELL, SHELL, module + 4, 550);
	sample(scene, SHELL, SHELL, module + 4, 700);
	turn(scene, 1000);
	assert_true(told(scene, "550 sample 10 %llx ", nowhere + (u32)(module + 4)));
	assert_true(told(scene, "700 sample 10 %llx ", beside + 4));
	assert_false(told(scene, "map -1 [first] %llx\n", module));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_module_that_was_loaded_later_has_its_name_from_then_on),
		TEST(a_module_that_was_loaded_later_is_told_to_who_keeps_names),
		TEST(a_module_that_went_has_no_name_any_more),
		TEST(who_takes_a_place_over_lies_beside_who_had_it),
		TEST(who_took_a_place_over_has_it_in_the_next_window),
		TEST(a_program_in_the_place_of_a_module_stays_when_that_is_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
