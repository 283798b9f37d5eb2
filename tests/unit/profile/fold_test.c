/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Folding: inlined functions become frames, and places in the source tell frames apart.
 */
#include "profile/profile.h"
#include "profile/source_text.h"
#include "unit/unit.h"

/* main calls work, into which inner is inlined, at two lines; one address has no name. */
struct fixture {
	struct profile *profile;
	binary_id app;
	function_id main, work, inner;
	location_id in_main, first, second, nowhere;
	struct fold *fold;
};

static function_id add_function(struct fixture *fixture, const char *name, u64 start)
{
	struct profile *profile = fixture->profile;

	return profile_function(profile, &(struct function_row){
						 .name = intern_text(&profile->strings, name),
						 .binary = fixture->app,
						 .start = start,
						 .end = start ? start + 0x100 : 0,
						 .is_inlined = !start,
					 });
}

static void add_line(struct fixture *fixture, location_id location, function_id function, u32 line)
{
	struct profile *profile = fixture->profile;
	struct location_row *row = &profile->locations.items[location];

	if (!row->line_count++)
		row->first_line = (u32)profile->lines.count;
	*vec_add(&profile->lines) = (struct line_row){
		.function = function,
		.file = line ? intern_text(&profile->strings, "/src/app.c") : 0,
		.line = line,
	};
}

static void add_sample(struct fixture *fixture, location_id leaf)
{
	struct profile *profile = fixture->profile;
	stack_id stack = 0;

	stack = profile_stack(profile, &(struct stack_row){stack, fixture->in_main});
	stack = profile_stack(profile, &(struct stack_row){stack, leaf});
	profile_add(profile,
		    &(struct count_row){.stack = stack, .leaf = leaf, .weight = 10, .samples = 1});
}

static location_id add_location(struct fixture *fixture, u64 address)
{
	return profile_location(fixture->profile, fixture->app, address, SPACE_USER);
}

static int set_up(void **state)
{
	struct fixture *fixture = must_alloc(sizeof(*fixture));
	struct profile *profile = fixture->profile = profile_new();
	string_id path = intern_text(&profile->strings, "app");

	fixture->app = profile_binary(
		profile,
		&(struct binary_row){.path = path, .short_name = path, .kind = BINARY_FILE});
	fixture->main = add_function(fixture, "main", 0x100);
	fixture->work = add_function(fixture, "work", 0x200);
	fixture->inner = add_function(fixture, "inner", 0);
	fixture->in_main = add_location(fixture, 0x110);
	fixture->first = add_location(fixture, 0x210);
	fixture->second = add_location(fixture, 0x220);
	fixture->nowhere = add_location(fixture, 0x410);
	add_line(fixture, fixture->in_main, fixture->main, 0);
	add_line(fixture, fixture->first, fixture->inner, 7);
	add_line(fixture, fixture->first, fixture->work, 20);
	add_line(fixture, fixture->second, fixture->inner, 8);
	add_line(fixture, fixture->second, fixture->work, 20);
	add_sample(fixture, fixture->first);
	add_sample(fixture, fixture->second);
	add_sample(fixture, fixture->nowhere);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	fold_free(fixture->fold);
	profile_free(fixture->profile);
	free(fixture);
	return 0;
}

/* A row's stack from the innermost frame on, as "name source, …". */
static const char *stack_text(const struct fold *fold, u32 row, struct text *text)
{
	text_truncate(text, 0);
	for (path_id path = fold->rows.items[row].path; path;
	     path = fold->paths.items[path].caller) {
		frame_id frame = fold->paths.items[path].frame;

		text_append(text, text->length ? ", " : "");
		text_append(text, fold_frame_name(fold, frame));
		text_append(text, fold->key == FOLD_BY_FUNCTION ? "" : " ");
		text_append(text, fold_frame_source(fold, frame));
	}
	return text_view(text);
}

static void inlined_functions_are_frames_and_the_outer_one_has_what_was_counted(void **state)
{
	struct fixture *fixture = *state;
	struct fold *fold = fixture->fold = fold_new(fixture->profile, FOLD_BY_FUNCTION);
	struct text text = {0};

	/* both lines of work read the same */
	assert_int_equal(fold->rows.count, 2);
	assert_int_equal(fold->rows.items[0].weight, 20);
	assert_string_equal(stack_text(fold, 0, &text), "inner, work, main");
	assert_string_equal(fold_frame_name(fold, fold->rows.items[0].leaf), "work");
	assert_string_equal(stack_text(fold, 1, &text), "main"); /* below "" */
	text_release(&text);
}

static void lines_tell_frames_apart_if_that_is_asked_for(void **state)
{
	struct fixture *fixture = *state;
	struct fold *fold = fixture->fold = fold_new(fixture->profile, FOLD_BY_LINE);
	frame_id first = fold->inner.items[0], second = fold->inner.items[1];
	struct text text = {0};

	assert_int_equal(fold->rows.count, 3);
	assert_string_equal(stack_text(fold, 0, &text), "inner app.c:7, work app.c:20, main ??:0");
	assert_string_equal(stack_text(fold, 1, &text), "inner app.c:8, work app.c:20, main ??:0");
	assert_string_equal(stack_text(fold, 2, &text), " app[410], main ??:0");
	/* a graph by function finds them together again */
	assert_int_not_equal(first, second);
	assert_int_equal(fold_frame_by(fold, first, FOLD_BY_FUNCTION),
			 fold_frame_by(fold, second, FOLD_BY_FUNCTION));
	assert_int_equal(fold_frame_by(fold, second, FOLD_BY_LINE), second);
	assert_int_equal(fold->frame_of[fixture->first], fold->frame_of[fixture->second]);
	assert_string_equal(fold_frame_file(fold, first), "app.c");
	assert_string_equal(fold_frame_file(fold, fold->frame_of[fixture->in_main]), "");
	text_release(&text);
}

static void addresses_of_one_line_are_one_in_a_graph_by_line(void **state)
{
	struct fixture *fixture = *state;
	struct fold *fold = fixture->fold = fold_new(fixture->profile, FOLD_BY_ADDRESS);
	frame_id first = fold->frame_of[fixture->first], second = fold->frame_of[fixture->second];

	assert_int_not_equal(first, second);
	assert_int_equal(fold_frame_by(fold, first, FOLD_BY_LINE),
			 fold_frame_by(fold, second, FOLD_BY_LINE));
	assert_int_equal(fold_frame_by(fold, first, FOLD_BY_ADDRESS), first);
}

static void copies_of_a_program_are_one_and_what_has_another_name_is_not(void **state)
{
	struct fixture *fixture = *state;
	struct profile *profile = fixture->profile;
	static const char *const names[] = {"work", "work", "other"};
	struct binary_row binary = {
		.kind = BINARY_FILE, .path = intern_text(&profile->strings, "/app"), .major = 8};
	location_id places[3];
	struct fold *fold;

	for (u32 i = 0; i < 3; i++) {
		struct function_row function = {.start = 0x10, .end = 0x20};

		binary.inode = i + 1;
		function.binary = profile_binary(profile, &binary);
		function.name = intern_text(&profile->strings, names[i]);
		places[i] = profile_location(profile, function.binary, 0x18, SPACE_USER);
		add_line(fixture, places[i], profile_function(profile, &function), 0);
	}
	fold = fixture->fold = fold_new(profile, FOLD_BY_FUNCTION);
	assert_int_not_equal(profile->locations.items[places[0]].binary,
			     profile->locations.items[places[1]].binary);
	assert_int_equal(fold->frame_of[places[0]], fold->frame_of[places[1]]);
	assert_int_not_equal(fold->frame_of[places[0]], fold->frame_of[places[2]]);
}

static void a_frame_that_is_only_likely_stays_apart_in_coarser_graphs(void **state)
{
	struct fixture *fixture = *state;
	struct profile *profile = fixture->profile;
	stack_id stack = profile_stack(
		profile, &(struct stack_row){.location = fixture->first, .origin = ORIGIN_LIKELY});
	struct fold *fold;
	frame_id likely;

	profile_add(profile,
		    &(struct count_row){.stack = stack, .leaf = fixture->first, .weight = 10});
	fold = fixture->fold = fold_new(profile, FOLD_BY_ADDRESS);
	likely = fold->paths.items[fold->rows.items[3].path].frame;
	assert_true(fold->frames.items[likely].is_likely);
	assert_true(fold->frames.items[fold_frame_by(fold, likely, FOLD_BY_FUNCTION)].is_likely);
	assert_true(fold->frames.items[fold_frame_by(fold, likely, FOLD_BY_LINE)].is_likely);
}

static void a_place_that_is_not_known_reads_as_in_perf(void **state)
{
	const struct fixture *fixture = *state;
	struct profile *profile = fixture->profile;
	struct location_row kernel = {
		.binary = fixture->app, .address = 0x11c, .space = SPACE_KERNEL};
	u32 line = profile->locations.items[fixture->in_main].first_line;
	struct text text = {0};

	assert_false(source_text_append(&text, profile, &kernel, line));
	assert_string_equal(text_view(&text), "main+28");
	assert_int_equal(source_text_file_length(text_view(&text)), 0);
	assert_int_equal(source_text_file_length("??:0"), 0);
	assert_int_equal(source_text_file_length("a:b.c:12"), 5);
	text_release(&text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(inlined_functions_are_frames_and_the_outer_one_has_what_was_counted),
		TEST(lines_tell_frames_apart_if_that_is_asked_for),
		TEST(addresses_of_one_line_are_one_in_a_graph_by_line),
		TEST(copies_of_a_program_are_one_and_what_has_another_name_is_not),
		TEST(a_frame_that_is_only_likely_stays_apart_in_coarser_graphs),
		TEST(a_place_that_is_not_known_reads_as_in_perf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
