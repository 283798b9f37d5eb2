/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a report says of its user stacks. */
#include "unit/unit.h"

#include "export/export.h"

#include <stdio.h>
#include <string.h>

static void add(struct profile *profile, u8 walked, u8 cut, u32 times)
{
	const struct sample sample = {.walked = walked, .cut = cut};

	for (u32 i = 0; i < times; i++)
		stack_tally_add(&profile->totals.stacks, &sample);
	profile->totals.samples += times;
}

/* The footer of a profile, which is freed; the caller owns the text. */
static char *footer_of(struct profile *profile)
{
	struct report_facts facts = {.profile = profile};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	report_write_footer(&facts, out);
	fclose(out);
	profile_free(profile);
	return text;
}

static void assert_footer(struct profile *profile, const char *expected)
{
	char *text = footer_of(profile);

	assert_string_equal(text, expected);
	free(text);
}

static void whole_stacks_are_told_with_their_walk_and_the_rest_by_reason(void **state)
{
	struct profile *profile = profile_new();

	add(profile, WALK_EH_FRAME, CUT_COMPLETE, 1970);
	add(profile, WALK_EH_FRAME | WALK_FRAME_POINTER, CUT_COMPLETE, 10);
	add(profile, WALK_EH_FRAME, CUT_TOO_DEEP, 2);
	add(profile, WALK_EH_FRAME, CUT_UNREADABLE, 3);
	add(profile, 0, CUT_NO_TABLE, 4);
	add(profile, WALK_EH_FRAME, CUT_UNSUPPORTED, 5);
	add(profile, WALK_FRAME_POINTER, CUT_NOT_ANALYSED, 6);
	assert_footer(
		profile,
		"#\n"
		"# 2 000 samples; 0 lost\n"
		"# 2 000 user stacks, 99.00% whole\n"
		"#   walked by eh_frame 99.00%, frame pointers 0.30%, both 0.50%, none 0.20%\n"
		"#   2 end early: deeper than --max-stack\n"
		"#   3 end early: stack memory was not resident\n"
		"#   4 end early: code without unwind table\n"
		"#   5 end early: an unwind rule we cannot follow\n"
		"#   6 end early: code not analysed yet\n"
		"#\n");
	(void)state;
}

static void frame_pointers_alone_are_told_without_alarm(void **state)
{
	struct profile *profile = profile_new();

	add(profile, WALK_FRAME_POINTER, CUT_BROKEN, 1942);
	add(profile, WALK_FRAME_POINTER, CUT_COMPLETE, 1);
	assert_footer(profile,
		      "#\n"
		      "# 1 943 samples; 0 lost\n"
		      "# 1 943 user stacks, walked by frame pointers\n"
		      "#   1 reach the thread's start\n"
		      "#   1 942 end at code without frame pointers (eh_frame gets through it)\n"
		      "#\n");
	(void)state;
}

/* Says of `stacks` stacks in which binary they ended. */
static void add_place(struct profile *profile, const char *name, u8 cut, u32 stacks)
{
	struct binary_row binary = {
		.path = intern_text(&profile->strings, name),
		.short_name = intern_text(&profile->strings, name),
	};

	*vec_add(&profile->early_ends) = (struct early_end_row){
		.binary = profile_binary(profile, &binary),
		.cut = cut,
		.stacks = stacks,
	};
}

static void the_binary_where_most_stacks_ended_is_named(void **state)
{
	struct profile *profile = profile_new();
	char *text;

	add(profile, WALK_EH_FRAME, CUT_NO_TABLE, 5);
	add(profile, WALK_EH_FRAME, CUT_UNSUPPORTED, 3);
	add_place(profile, "few", CUT_NO_TABLE, 2);
	add_place(profile, "more\033", CUT_NO_TABLE, 3);
	add_place(profile, "other", CUT_UNSUPPORTED, 3);
	text = footer_of(profile);
	assert_non_null(
		strstr(text, "#   5 end early: code without unwind table, 3 in more\\x1b\n"));
	assert_non_null(
		strstr(text, "#   3 end early: an unwind rule we cannot follow, all in other\n"));
	free(text);
	(void)state;
}

static void almost_all_is_never_rounded_to_all(void **state)
{
	struct profile *profile = profile_new();
	char *text;

	add(profile, WALK_EH_FRAME, CUT_COMPLETE, 99999);
	add(profile, WALK_EH_FRAME, CUT_TOO_DEEP, 1);
	text = footer_of(profile);
	assert_non_null(strstr(text, "# 100 000 user stacks, 99.99% whole\n"));
	free(text);
	(void)state;
}

static void a_recording_of_perf_says_nothing_of_stacks(void **state)
{
	struct profile *profile = profile_new();

	add(profile, 0, CUT_UNKNOWN, 3);
	assert_footer(profile, "#\n# 3 samples; 0 lost\n#\n");
	(void)state;
}

static void a_line_fits_a_terminal_of_80_columns(void **state)
{
	struct profile *profile = profile_new();
	char *text;

	for (u32 cut = CUT_UNKNOWN; cut <= CUT_BROKEN; cut++)
		for (u32 walked = 1; walked <= WALK_KERNEL; walked++)
			add(profile, (u8)walked, (u8)cut, 1000);
	text = footer_of(profile);
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
		assert_true(strlen(line) <= 80);
	free(text);
	(void)state;
}

static void json_has_every_walk_and_end(void **state)
{
	struct profile *profile = profile_new();
	struct report_facts facts = {.profile = profile};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct json_writer *json = json_writer_new(out);

	add(profile, WALK_EH_FRAME, CUT_COMPLETE, 7);
	add(profile, WALK_EH_FRAME | WALK_FRAME_POINTER, CUT_NO_TABLE, 2);
	add_place(profile, "libx", CUT_NO_TABLE, 2);
	json_object(json, NULL);
	report_write_footer_json(&facts, json);
	json_object_end(json);
	json_writer_freep(&json);
	fclose(out);
	for (char *at = text, *to = text;; at++) { /* without the layout */
		if (*at != '\n' && *at != '\t' && *at != ' ')
			*to++ = *at;
		if (!*at)
			break;
	}
	assert_non_null(strstr(
		text,
		"\"user_stacks\":{\"count\":9,\"walked\":{\"eh_frame\":7,"
		"\"frame_pointers\":0,\"both\":2,\"none\":0,\"kernel\":0,\"lbr\":0,"
		"\"lbr_frame_pointers\":0,\"lbr_eh_frame\":0,\"lbr_both\":0},\"ended\":{"
		"\"unknown\":0,\"complete\":7,\"too_deep\":0,\"unreadable\":0,"
		"\"no_table\":2,\"unsupported\":0,\"not_analysed\":0,\"broken\":0,"
		"\"overwritten\":0,\"copy_ends\":0,\"no_file\":0,\"32_bit\":0,\"no_mapping\":0},"
		"\"ended_in\":[{\"binary\":\"libx\",\"end\":\"no_table\",\"stacks\":2}]}"));
	free(text);
	profile_free(profile);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_stacks_are_told_with_their_walk_and_the_rest_by_reason),
		cmocka_unit_test(frame_pointers_alone_are_told_without_alarm),
		cmocka_unit_test(the_binary_where_most_stacks_ended_is_named),
		cmocka_unit_test(almost_all_is_never_rounded_to_all),
		cmocka_unit_test(a_recording_of_perf_says_nothing_of_stacks),
		cmocka_unit_test(a_line_fits_a_terminal_of_80_columns),
		cmocka_unit_test(json_has_every_walk_and_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
