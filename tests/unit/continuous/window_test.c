/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An endless stream of events in windows that can be read alone.
 */
#include "unit/continuous/window_scene.h"

static int begin_small(void **state)
{
	return begin_with(state, 256 << 10);
}

#define KERNEL "0 map -1 [kernel.kallsyms]_text ffffffff81000000\n"

static void samples_alike_are_one_and_bring_only_what_they_need(void **state)
{
	struct scene *scene = *state;

	sample(scene, SHELL, SHELL, CODE + 4, 100);
	sample(scene, SHELL, SHELL, CODE + 4, 300);
	sample(scene, SHELL, SHELL, CODE + 8, 200);
	fork_of(scene, 1, CHILD, CHILD, 150); /* of whom there is no sample */
	assert_string_equal(turn(scene, 1000), KERNEL "0 name 10 sh\n"
						      "0 map 10 /bin/sh F3+0\n"
						      "100 sample 10 F3+8 x1 w7 f1\n"
						      "300 sample 10 F3+4 x2 w14 f1\n");
}

static void samples_bring_the_paths_of_their_cgroups(void **state)
{
	struct scene *scene = *state;

	cgroup(scene, 5, "/a", 10);
	cgroup(scene, 6, "/b", 10);
	sample_of_cgroup(scene, 5, 20);
	sample_of_cgroup(scene, 5, 21);
	sample_of_cgroup(scene, 7, 22); /* not told: no path, but apart */
	assert_string_equal(turn(scene, 100),
			    KERNEL "0 cgroup 5 /a\n0 name 10 sh\n"
				   "0 map 10 /bin/sh F3+0\n22 sample 10 F3+0 x1 w7 f0 g7\n"
				   "20 sample 10 F3+0 x2 w14 f0 g5\n");
}

static void a_cgroup_is_known_in_the_window_after_it_was_told(void **state)
{
	struct scene *scene = *state;

	cgroup(scene, 5, "/a", 10);
	sample_of_cgroup(scene, 5, 110);
	turn(scene, 100);
	assert_non_null(strstr(turn(scene, 200), "0 cgroup 5 /a\n"));
	sample_of_cgroup(scene, 5, 210); /* whoever tells of it does so again by now */
	assert_null(strstr(turn(scene, 300), "cgroup"));
}

static void kernel_symbols_come_along_if_they_are_needed(void **state)
{
	struct scene *scene = *state;

	sample(scene, SHELL, SHELL, kernel_symbol + 3, 100);
	assert_non_null(strstr(turn(scene, 1000), "0 symbol prog\n"));
	sample(scene, SHELL, SHELL, kernel_text + 3, 1100);
	assert_null(strstr(turn(scene, 2000), "symbol"));
}

static void the_next_window_knows_what_the_first_was_told(void **state)
{
	struct scene *scene = *state;

	turn(scene, 1000);
	sample(scene, SHELL, SHELL, LIBRARY + 4, 1100);
	assert_string_equal(turn(scene, 2000), KERNEL "0 name 10 sh\n"
						      "0 map 10 /lib/libc.so F4+0\n"
						      "1100 sample 10 F4+4 x1 w7 f1\n");
}

static void a_sample_from_the_end_on_is_of_the_next_window(void **state)
{
	struct scene *scene = *state;

	sample(scene, SHELL, SHELL, CODE + 4, 999);
	sample(scene, SHELL, SHELL, CODE + 4, 1000);
	turn(scene, 1000);
	assert_int_equal(scene->told.samples, 1);
	turn(scene, 2000);
	assert_int_equal(scene->told.samples, 1);
}

/* A sample of the shell that called its library. */
static void sample_of_caller(const struct scene *scene, u64 time_ns)
{
	const struct frame frames[] = {{.address = CODE + 4, .space = SPACE_USER},
				       {.address = LIBRARY + 8, .space = SPACE_USER}};

	sample_of_frames(scene, (struct sample){.time_ns = time_ns,
						.pid = SHELL,
						.tid = SHELL,
						.frames = frames,
						.frame_count = ARRAY_COUNT(frames)});
}

static void a_sample_that_waits_keeps_its_frames(void **state)
{
	struct scene *scene = *state;

	sample(scene, SHELL, SHELL, CODE + 4, 1000);
	sample(scene, SHELL, SHELL, CODE + 4, 999);
	sample_of_caller(scene, 2000);
	assert_null(strstr(turn(scene, 1000), "/lib/libc.so"));
	assert_null(strstr(turn(scene, 2000), "/lib/libc.so"));
	assert_non_null(strstr(turn(scene, 3000), "/lib/libc.so"));
	assert_int_equal(scene->told.samples, 1);
}

static void a_program_is_told_from_the_one_that_it_replaced(void **state)
{
	struct scene *scene = *state;

	/* all of it at once, as counted samples come: after what they were counted in */
	fork_of(scene, SHELL, CHILD, CHILD, 100);
	name(scene, CHILD, CHILD, "ls", 200);
	map(scene, CHILD, CODE, "/bin/ls", 210);
	exit_of(scene, CHILD, CHILD, 400);
	sample(scene, CHILD, CHILD, CODE + 4, 150);
	sample(scene, CHILD, CHILD, CODE + 4, 300);
	assert_string_equal(turn(scene, 1000), KERNEL "100 life 20 of 10\n"
						      "100 name 20 sh\n"
						      "100 map 20 /bin/sh F3+0\n"
						      "200 name 20 ls exec\n"
						      "210 map 20 /bin/ls F5+0\n"
						      "150 sample 20 F3+4 x1 w7 f1\n"
						      "300 sample 20 F5+4 x1 w7 f1\n");
}

static void what_a_parent_maps_after_the_fork_is_not_its_childs(void **state)
{
	struct scene *scene = *state;

	fork_of(scene, SHELL, CHILD, CHILD, 100);
	map(scene, SHELL, 0x900000, "/lib/late.so", 150);
	map(scene, CHILD, 0xa00000, "/lib/other.so", 160);
	sample(scene, CHILD, CHILD, 0x900004, 300);
	sample(scene, SHELL, SHELL, 0xa00004, 300);
	sample(scene, CHILD, CHILD, 0xa00004, 310);
	sample(scene, SHELL, SHELL, 0x900004, 310);
	turn(scene, 1000);
	assert_non_null(strstr(text_view(&scene->told.text), "0 map 20 /lib/other.so"));
	assert_non_null(strstr(text_view(&scene->told.text), "0 map 10 /lib/late.so"));
	assert_null(strstr(text_view(&scene->told.text), "map 20 /lib/late.so"));
	assert_null(strstr(text_view(&scene->told.text), "map 10 /lib/other.so"));
}

static void a_pid_that_is_used_again_is_another_process(void **state)
{
	struct scene *scene = *state;

	fork_of(scene, SHELL, CHILD, CHILD, 100);
	name(scene, CHILD, CHILD, "first", 110);
	map(scene, CHILD, CODE, "/bin/first", 120);
	exit_of(scene, CHILD, CHILD, 200);
	fork_of(scene, 1, CHILD, CHILD, 300);
	name(scene, CHILD, CHILD, "second", 310);
	map(scene, CHILD, CODE, "/bin/second", 320);
	sample(scene, CHILD, CHILD, CODE + 4, 150);
	sample(scene, CHILD, CHILD, CODE + 4, 350);
	assert_string_equal(turn(scene, 1000), KERNEL "100 life 20 of 10\n"
						      "110 name 20 first exec\n"
						      "120 map 20 /bin/first F5+0\n"
						      "300 life 20 of 1\n"
						      "310 name 20 second exec\n"
						      "320 map 20 /bin/second F6+0\n"
						      "150 sample 20 F5+4 x1 w7 f1\n"
						      "350 sample 20 F6+4 x1 w7 f1\n");
}

static void code_of_a_file_has_one_place_wherever_it_is_mapped(void **state)
{
	struct scene *scene = *state;

	fork_of(scene, 1, CHILD, CHILD, 100);
	name(scene, CHILD, CHILD, "sh", 110);
	map(scene, CHILD, 0x55550000, "/bin/sh", 120);
	sample(scene, SHELL, SHELL, CODE + 4, 300);
	sample(scene, CHILD, CHILD, 0x55550004, 300);
	assert_string_equal(turn(scene, 1000), KERNEL "0 name 10 sh\n"
						      "0 map 10 /bin/sh F3+0\n"
						      "0 name 20 sh\n"
						      "0 map 20 /bin/sh F3+0\n"
						      "300 sample 10 F3+4 x1 w7 f1\n"
						      "300 sample 20 F3+4 x1 w7 f1\n");
}

static void code_that_a_process_made_stays_where_it_is(void **state)
{
	struct scene *scene = *state;

	map(scene, SHELL, 0x900000, "//anon", 0);
	map(scene, SHELL, 0xa00000, "/memfd:doublemapper (deleted)", 0);
	sample(scene, SHELL, SHELL, 0x900004, 100);
	sample(scene, SHELL, SHELL, 0xa00004, 100);
	sample(scene, SHELL, SHELL, 0xb00004, 100); /* of which nothing is known */
	assert_string_equal(turn(scene, 1000),
			    KERNEL "0 name 10 sh\n"
				   "0 map 10 //anon 900000\n"
				   "0 map 10 /memfd:doublemapper (deleted) a00000\n"
				   "100 sample 10 900004 x1 w7 f1\n"
				   "100 sample 10 a00004 x1 w7 f1\n"
				   "100 sample 10 b00004 x1 w7 f1\n");
}

static void pieces_that_cover_each_other_are_told_with_their_times(void **state)
{
	struct scene *scene = *state;

	map(scene, SHELL, 0x900000, "//anon", 100);
	sample(scene, SHELL, SHELL, 0x900004, 150);
	map(scene, SHELL, 0x900000, "[heap]", 200);
	sample(scene, SHELL, SHELL, 0x900008, 250);
	assert_string_equal(turn(scene, 1000), KERNEL "0 life 10 of 1\n"
						      "0 name 10 sh\n"
						      "100 map 10 //anon 900000\n"
						      "200 map 10 [heap] 900000\n"
						      "150 sample 10 900004 x1 w7 f1\n"
						      "250 sample 10 900008 x1 w7 f1\n");
}

static int tell_frames(struct event_sink *sink, const struct sample *sample)
{
	struct told *told = (struct told *)sink;

	for (u32 i = 0; i < sample->frame_count; i++) {
		text_append(&told->text, " ");
		tell_address(&told->text, sample->frames[i].address);
	}
	return 0;
}

static void each_frame_is_of_what_was_newest_at_its_place(void **state)
{
	struct scene *scene = *state;
	struct mapping large = {.time_ns = 100,
				.pid = SHELL,
				.tid = SHELL,
				.space = SPACE_USER,
				.start = 0x900000,
				.bytes = 0x4000,
				.path = "/lib/large.so"};
	struct frame frames[] = {
		{.address = 0x900004},	  {.address = 0x901005}, {.address = 0x902008},
		{.address = 0x900010},	  {.address = 0x901000}, {.address = 0x902000},
		{.address = 0x903008},	  {.address = 0xc00000}, {.address = 0x8fffff},
		{.address = LIBRARY + 8}, {.address = 0x904000}, {.address = 0x904001},
	};
	struct told told = {.sink = {.on_sample = tell_frames}};

	for (size_t i = 0; i < ARRAY_COUNT(frames); i++)
		frames[i].space = SPACE_USER;
	sink_call(scene->sink, on_mapping, &large);
	map(scene, SHELL, 0x901000, "/lib/inside.so", 200);
	map(scene, SHELL, 0x903000, "/lib/later.so", 400);
	sink_call(scene->sink, on_sample,
		  &(struct sample){
			  .time_ns = 300,
			  .weight = 7,
			  .pid = SHELL,
			  .tid = SHELL,
			  .address = frames[0].address,
			  .space = SPACE_USER,
			  .has_chain = true,
			  .frames = frames,
			  .frame_count = ARRAY_COUNT(frames),
		  });
	assert_int_equal(window_hand_over(scene->window, &told.sink), 0);
	/* what called lies before the address that it returns to */
	assert_string_equal(text_view(&told.text),
			    " F5+4 F6+5 F5+2008 F5+10 F5+1000 F6+1000 F5+3008 c00000 8fffff F4+8"
			    " F5+4000 904001");
	text_release(&told.text);
}

static void samples_come_with_the_first_but_for_the_last(void **state)
{
	struct scene *scene = *state;

	turn(scene, 1000);
	sample(scene, SHELL, SHELL, CODE + 4, 1100);
	sample(scene, SHELL, SHELL, CODE + 8, 1500);
	sample(scene, SHELL, SHELL, CODE + 12, 1900);
	assert_non_null(strstr(turn(scene, 2000), "\n1100 sample 10 F3+4 x1 w7 f1\n"
						  "1100 sample 10 F3+8 x1 w7 f1\n"
						  "1900 sample 10 F3+c "));
	sample(scene, SHELL, SHELL, CODE + 4, 1999); /* which comes late */
	sample(scene, SHELL, SHELL, CODE + 8, 2500);
	assert_non_null(strstr(turn(scene, 3000), "\n2000 sample 10 F3+4 x1 w7 f1\n"
						  "2500 sample 10 F3+8 "));
}

static void samples_side_by_side_have_most_in_common(void **state)
{
	struct scene *scene = *state;

	for (u64 time_ns = 100; time_ns < 105; time_ns++) {
		sample_of_caller(scene, time_ns);
		sample(scene, SHELL, SHELL, CODE + 4, time_ns);
	}
	sample(scene, SHELL, SHELL, CODE + 8, 110);
	sample(scene, SHELL, SHELL, CODE + 6, 110);
	sample(scene, SHELL, SHELL, CODE + 7, 110);
	sample(scene, SHELL, SHELL, CODE + 7, 110);
	sample(scene, SHELL, SHELL, CODE + 9, 200);
	assert_non_null(strstr(turn(scene, 1000), "\n100 sample 10 F3+6 x1 w7 f1\n"
						  "100 sample 10 F3+8 x1 w7 f1\n"
						  "200 sample 10 F3+9 x1 w7 f1\n"
						  "100 sample 10 F3+7 x2 w14 f1\n"
						  "100 sample 10 F3+4 x5 w35 f1\n"
						  "100 sample 10 F3+4 x5 w35 f2\n"));
}

static void samples_beside_kernel_code_that_came_keep_their_times(void **state)
{
	struct scene *scene = *state;

	sink_call(scene->sink, on_kernel_symbol,
		  &(struct kernel_symbol){.time_ns = 200,
					  .start = kernel_symbol + 0x1000,
					  .bytes = 0x100,
					  .name = "later"});
	sample(scene, SHELL, SHELL, kernel_symbol + 0x1004, 250);
	turn(scene, 1000);
	assert_non_null(strstr(text_view(&scene->told.text), "200 symbol later\n"));
	assert_non_null(strstr(text_view(&scene->told.text), "\n250 sample 10 "));
}

static void a_thread_brings_its_process_along(void **state)
{
	struct scene *scene = *state;

	fork_of(scene, SHELL, SHELL, 11, 100);
	name(scene, SHELL, 11, "worker", 110);
	sample(scene, SHELL, 11, CODE + 4, 200);
	assert_string_equal(turn(scene, 1000), KERNEL "0 name 10 sh\n"
						      "0 name 11 worker\n"
						      "0 map 10 /bin/sh F3+0\n"
						      "200 sample 11 F3+4 x1 w7 f1\n");
}

static void who_has_ended_is_forgotten_with_the_window(void **state)
{
	enum { MANY = 1000, SECOND = 1000000000 };
	struct scene *scene = *state;
	u64 bytes = window_counts(scene->window).bytes;

	for (u32 i = 0; i < MANY; i++) {
		fork_of(scene, SHELL, CHILD + i, CHILD + i, 100);
		name(scene, CHILD + i, CHILD + i, "child", 110);
		map(scene, CHILD + i, CODE, "/bin/child", 120);
		exit_of(scene, CHILD + i, CHILD + i, 200);
	}
	assert_int_equal(window_counts(scene->window).threads, 1 + MANY);
	turn(scene, 2ULL * SECOND); /* late samples of theirs have come by then */
	assert_int_equal(window_counts(scene->window).threads, 1);
	assert_int_equal(window_counts(scene->window).bytes, bytes);
}

static bool is_shell(u32 pid, u32 tid)
{
	(void)tid;
	return pid == SHELL;
}

static void whose_end_got_lost_is_forgotten_when_asked(void **state)
{
	struct scene *scene = *state;

	fork_of(scene, SHELL, CHILD, CHILD, 100);
	turn(scene, 3000000000);
	assert_int_equal(window_counts(scene->window).threads, 2);
	window_forget_dead(scene->window, is_shell, 3000000001);
	turn(scene, 6000000000);
	assert_int_equal(window_counts(scene->window).threads, 1);
}

static void a_log_of_mappings_that_cover_each_other_stays_small(void **state)
{
	struct scene *scene = *state;

	for (u32 round = 1; round <= 100; round++) {
		for (u32 i = 0; i < 100; i++)
			map(scene, SHELL, LIBRARY + (i % 10) * 0x1000, "//anon", round * 100 + i);
		turn(scene, round * 100 + 100);
	}
	assert_true(window_counts(scene->window).bytes < 10000);
	sample(scene, SHELL, SHELL, CODE + 4, 20000);
	sample(scene, SHELL, SHELL, LIBRARY + 4, 20000);
	turn(scene, 30000);
	assert_non_null(strstr(text_view(&scene->told.text), "/bin/sh"));
	assert_non_null(strstr(text_view(&scene->told.text), "//anon"));
}

static void a_binary_is_told_once_with_its_first_sample(void **state)
{
	struct scene *scene = *state;

	sample(scene, SHELL, SHELL, CODE + 4, 100);
	assert_string_equal(text_view(&scene->binaries), "");
	sink_call(scene->sink, on_round, 500);
	assert_string_equal(text_view(&scene->binaries), "10 /bin/sh ");
	turn(scene, 1000);
	sample(scene, SHELL, SHELL, CODE + 8, 1100);
	turn(scene, 2000);
	assert_string_equal(text_view(&scene->binaries), "10 /bin/sh ");
}

static void a_binary_that_was_not_taken_is_told_again(void **state)
{
	struct scene *scene = *state;

	scene->refuses = true;
	for (u32 i = 0; i < 3; i++) {
		sample(scene, SHELL, SHELL, CODE + 4, 1000 * i + 1);
		turn(scene, 1000 * (i + 1));
	}
	assert_string_equal(text_view(&scene->binaries), "10 /bin/sh 10 /bin/sh 10 /bin/sh ");
}

static void a_full_window_says_so_before_anything_is_dropped(void **state)
{
	struct scene *scene = *state;
	u32 taken = 0;

	while (!window_is_full(scene->window)) {
		sample(scene, SHELL, SHELL, CODE + 4 * taken++, 1);
		sink_call(scene->sink, on_round, 2);
		assert_true(taken < 100000);
	}
	assert_int_equal(window_counts(scene->window).samples_dropped, 0);
	turn(scene, 1000);
	assert_int_equal(scene->told.samples, taken);
	assert_false(window_is_full(scene->window));
}

static void mappings_are_given_up_before_samples_and_both_are_counted(void **state)
{
	struct scene *scene = *state;
	u32 samples = 0, mappings = 0;

	while (!window_counts(scene->window).mappings_dropped) {
		map(scene, SHELL, 0x1000000 + 0x1000ULL * mappings++, "/lib/many.so", 1);
		assert_true(mappings < 100000);
	}
	sample(scene, SHELL, SHELL, CODE, 1);
	assert_int_equal(window_counts(scene->window).samples_dropped, 0);
	while (!window_counts(scene->window).samples_dropped) {
		sample(scene, SHELL, SHELL, CODE + 4 * samples++, 1);
		sink_call(scene->sink, on_round, 2);
		assert_true(samples < 100000);
	}
	turn(scene, 1000);
	assert_int_equal(scene->told.samples, samples); /* 1 more was taken before, 1 was dropped */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(samples_alike_are_one_and_bring_only_what_they_need),
		TEST(samples_bring_the_paths_of_their_cgroups),
		TEST(a_cgroup_is_known_in_the_window_after_it_was_told),
		TEST(kernel_symbols_come_along_if_they_are_needed),
		TEST(the_next_window_knows_what_the_first_was_told),
		TEST(a_sample_from_the_end_on_is_of_the_next_window),
		TEST(a_sample_that_waits_keeps_its_frames),
		TEST(a_program_is_told_from_the_one_that_it_replaced),
		TEST(what_a_parent_maps_after_the_fork_is_not_its_childs),
		TEST(a_pid_that_is_used_again_is_another_process),
		TEST(code_of_a_file_has_one_place_wherever_it_is_mapped),
		TEST(code_that_a_process_made_stays_where_it_is),
		TEST(pieces_that_cover_each_other_are_told_with_their_times),
		TEST(each_frame_is_of_what_was_newest_at_its_place),
		TEST(samples_come_with_the_first_but_for_the_last),
		TEST(samples_side_by_side_have_most_in_common),
		TEST(samples_beside_kernel_code_that_came_keep_their_times),
		TEST(a_thread_brings_its_process_along),
		TEST(who_has_ended_is_forgotten_with_the_window),
		TEST(whose_end_got_lost_is_forgotten_when_asked),
		TEST(a_log_of_mappings_that_cover_each_other_stays_small),
		TEST(a_binary_is_told_once_with_its_first_sample),
		TEST(a_binary_that_was_not_taken_is_told_again),
		cmocka_unit_test_setup_teardown(a_full_window_says_so_before_anything_is_dropped,
						begin_small, end),
		cmocka_unit_test_setup_teardown(
			mappings_are_given_up_before_samples_and_both_are_counted, begin_small,
			end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
