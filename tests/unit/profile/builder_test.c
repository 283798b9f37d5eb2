/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counting: what samples become in the tables.
 */
#include "unit/unit.h"

#include "unit/profile/builder_fixture.h"
#include "unit/profile/machine.h"

static void equal_samples_are_one_row(void **state)
{
	const struct machine_sample samples[] = {machine_cumulate[2], machine_cumulate[2]};
	struct profile *profile = machine_profile(samples, 2, 5, true);

	assert_int_equal(profile->counts.count, 1);
	assert_int_equal(profile->counts.items[0].samples, 2);
	assert_int_equal(profile->counts.items[0].weight, 10);
	assert_int_equal(profile->totals.samples, 2);
	assert_int_equal(profile->totals.weight, 10);
	profile_free(profile);
	(void)state;
}

static void stacks_share_their_outer_frames(void **state)
{
	const struct machine_sample samples[] = {machine_cumulate[3], machine_cumulate[4]};
	struct profile *profile = machine_profile(samples, 2, 1, true);

	/* main, run_command, cmd_record once, malloc and free under it, and row 0 */
	assert_int_equal(profile->stacks.count, 6);
	assert_int_equal(profile->stacks.items[profile->counts.items[0].stack].depth, 4);
	assert_int_equal(profile->stacks.items[profile->counts.items[0].stack].caller,
			 profile->stacks.items[profile->counts.items[1].stack].caller);
	profile_free(profile);
	(void)state;
}

static void a_file_address_is_an_offset_into_the_file(void **state)
{
	struct profile *profile = machine_profile(machine_cumulate + 1, 1, 1, true);
	const struct location_row *leaf = &profile->locations.items[profile->counts.items[0].leaf];

	assert_int_equal(leaf->address, FIRST);
	assert_string_equal(profile_text(profile, profile->binaries.items[leaf->binary].short_name),
			    "perf");
	profile_free(profile);
	(void)state;
}

static const struct binary_row *leaf_binary(const struct profile *profile, size_t row)
{
	const struct location_row *leaf =
		&profile->locations.items[profile->counts.items[row].leaf];

	return &profile->binaries.items[leaf->binary];
}

static void an_address_without_mapping_stays_as_it_is(void **state)
{
	struct fixture *fixture = *state;

	take_at(fixture, 7, 0x1234, SPACE_USER);
	fixture->profile = profile_builder_take(fixture->builder);
	assert_string_equal(
		profile_text(fixture->profile, leaf_binary(fixture->profile, 0)->short_name),
		"[unknown]");
	assert_int_equal(
		fixture->profile->locations.items[fixture->profile->counts.items[0].leaf].address,
		0x1234);
}

static void a_mapping_made_later_does_not_name_earlier_samples(void **state)
{
	struct fixture *fixture = *state;

	take_at(fixture, 7, PROGRAM + 1, SPACE_USER);
	machine_map(fixture->sink, 7, PROGRAM, "/bin/late");
	take_at(fixture, 7, PROGRAM + 1, SPACE_USER);
	fixture->profile = profile_builder_take(fixture->builder);
	assert_int_equal(fixture->profile->counts.count, 2);
	assert_int_equal(leaf_binary(fixture->profile, 0)->kind, BINARY_NONE);
	assert_string_equal(
		profile_text(fixture->profile, leaf_binary(fixture->profile, 1)->short_name),
		"late");
}

/* Names what "/bin/named" holds. */
static bool is_in_named(void *asked, struct profile *profile, location_id location)
{
	binary_id binary = profile->locations.items[location].binary;

	(*(u32 *)asked)++;
	return !strcmp(profile_text(profile, profile->binaries.items[binary].path), "/bin/named");
}

/* Two processes at other addresses, each called at the same place of the same file. */
static struct profile *count_two_callers(const char *path, struct name_test names)
{
	static const struct event_source source = {.name = "cpu-clock"};
	struct builder_settings settings = {.names = names};
	struct profile_builder *builder = profile_builder_new(&settings, &source, 1);
	struct fixture fixture = {builder, profile_builder_sink(builder), NULL};
	struct profile *profile;

	machine_map(fixture.sink, 7, PROGRAM, path);
	machine_map(fixture.sink, 8, PROGRAM + 0x10000, path);
	take_at(&fixture, 7, PROGRAM + 1, SPACE_USER);
	take_at(&fixture, 8, PROGRAM + 0x10001, SPACE_USER);
	take_at(&fixture, 7, PROGRAM + 1, SPACE_USER);
	profile = profile_builder_take(builder);
	profile_builder_free(builder);
	return profile;
}

static void callers_without_name_are_told_apart_by_virtual_address(void **state)
{
	u32 asked = 0;
	struct profile *profile = count_two_callers("/bin/bare",
						    (struct name_test){is_in_named, &asked});
	const struct count_row *counts = profile->counts.items;
	location_id first = profile->stacks.items[counts[0].stack].location;
	location_id second = profile->stacks.items[counts[1].stack].location;

	assert_int_equal(profile->counts.count, 2);
	assert_int_equal(asked, 2);
	assert_int_equal(counts[0].leaf, counts[1].leaf);
	assert_int_equal(profile->locations.items[counts[0].leaf].seen_at, 0);
	assert_int_equal(profile->locations.items[first].seen_at, PROGRAM + 1);
	assert_int_equal(profile->locations.items[second].seen_at, PROGRAM + 0x10001);
	assert_int_equal(profile->locations.items[first].address,
			 profile->locations.items[second].address);
	assert_int_equal(profile_addresses(profile), 1);
	profile_free(profile);
	(void)state;
}

static void callers_with_a_name_are_one_in_all_processes(void **state)
{
	u32 asked = 0;
	struct profile *profile = count_two_callers("/bin/named",
						    (struct name_test){is_in_named, &asked});

	assert_int_equal(profile->stacks.count, 2);
	profile_free(profile);
	(void)state;
}

static void nobody_is_told_apart_by_virtual_address_unasked(void **state)
{
	struct profile *profile = count_two_callers("/bin/bare", (struct name_test){0});

	assert_int_equal(profile->stacks.count, 2);
	profile_free(profile);
	(void)state;
}

static void anonymous_code_belongs_to_the_perf_map_of_its_process(void **state)
{
	struct fixture *fixture = *state;

	machine_map(fixture->sink, 7, PROGRAM, "//anon");
	machine_map(fixture->sink, 8, PROGRAM, "//anon");
	take_at(fixture, 7, PROGRAM + 1, SPACE_USER);
	take_at(fixture, 8, PROGRAM + 1, SPACE_USER);
	fixture->profile = profile_builder_take(fixture->builder);
	assert_string_equal(profile_text(fixture->profile, leaf_binary(fixture->profile, 0)->path),
			    "/tmp/perf-7.map");
	assert_string_equal(
		profile_text(fixture->profile, leaf_binary(fixture->profile, 1)->short_name),
		"[JIT] tid 8");
	assert_int_equal(
		fixture->profile->locations.items[fixture->profile->counts.items[0].leaf].address,
		PROGRAM + 1);
}

static void map_file(struct fixture *fixture, struct mapping mapping)
{
	mapping.tid = mapping.pid;
	mapping.space = SPACE_USER;
	mapping.start = PROGRAM;
	mapping.bytes = MAP_BYTES;
	mapping.major = 8;
	sink_call(fixture->sink, on_mapping, &mapping);
	take_at(fixture, mapping.pid, PROGRAM + 1, SPACE_USER);
}

static void without_build_id_inodes_tell_files_of_one_path_apart(void **state)
{
	struct fixture *fixture = *state;
	const struct profile *profile;

	map_file(fixture, (struct mapping){.pid = 7, .path = "/app", .inode = 1});
	map_file(fixture, (struct mapping){.pid = 8, .path = "/app", .inode = 2});
	/* The first one, and what got its inode when it was gone. */
	map_file(fixture,
		 (struct mapping){.pid = 9, .path = "/app", .inode = 1, .inode_generation = 5});
	map_file(fixture,
		 (struct mapping){.pid = 10, .path = "/app", .inode = 1, .inode_generation = 6});
	profile = fixture->profile = profile_builder_take(fixture->builder);
	assert_int_equal(profile->binaries.count, 1 + 3);
	assert_int_equal(leaf_binary(profile, 0)->inode_generation, 5);
	assert_ptr_equal(leaf_binary(profile, 0), leaf_binary(profile, 2));
	assert_int_equal(leaf_binary(profile, 1)->inode, 2);
	assert_int_equal(leaf_binary(profile, 3)->inode_generation, 6);
}

static void with_a_build_id_or_without_a_file_inodes_do_not_count(void **state)
{
	struct fixture *fixture = *state;

	map_file(fixture,
		 (struct mapping){.pid = 7, .path = "/a", .inode = 1, .build_id_bytes = 20});
	map_file(fixture,
		 (struct mapping){.pid = 8, .path = "/a", .inode = 2, .build_id_bytes = 20});
	map_file(fixture, (struct mapping){.pid = 9, .path = "/dev/zero (deleted)", .inode = 3});
	fixture->profile = profile_builder_take(fixture->builder);
	assert_int_equal(fixture->profile->binaries.count, 1 + 2);
	assert_int_equal(leaf_binary(fixture->profile, 0)->inode, 0);
	assert_int_equal(leaf_binary(fixture->profile, 2)->inode, 0);
}

static void memory_that_holds_no_code_keeps_its_name(void **state)
{
	struct fixture *fixture = *state;
	struct mapping stack = {
		.pid = 7,
		.tid = 7,
		.space = SPACE_USER,
		.is_data = true,
		.start = PROGRAM,
		.bytes = MAP_BYTES,
		.path = "[stack]",
	};

	sink_call(fixture->sink, on_mapping, &stack);
	take_at(fixture, 7, PROGRAM + 1, SPACE_USER);
	fixture->profile = profile_builder_take(fixture->builder);
	assert_string_equal(profile_text(fixture->profile, leaf_binary(fixture->profile, 0)->path),
			    "[stack]");
}

static void kernel_text_and_programs_are_binaries_of_their_own(void **state)
{
	struct fixture *fixture = *state;
	struct mapping text = {.pid = ~0u,
			       .space = SPACE_KERNEL,
			       .start = 0xffffffff81000000,
			       .bytes = 0x1000000,
			       .file_offset = 0xffffffff81000000,
			       .path = "[kernel.kallsyms]_text"};
	struct mapping module = {.pid = ~0u,
				 .space = SPACE_KERNEL,
				 .start = 0xffffffffc0000000,
				 .bytes = 0x1000,
				 .path = "/lib/modules/6/snd-pcm.ko.xz"};
	struct kernel_symbol program = {.start = 0xffffffffa0000000,
					.bytes = 64,
					.type = 1,
					.name = "bpf_prog_1234_on_sample"};

	sink_call(fixture->sink, on_mapping, &text);
	sink_call(fixture->sink, on_mapping, &module);
	sink_call(fixture->sink, on_kernel_symbol, &program);
	take_at(fixture, 7, 0xffffffff81000010, SPACE_KERNEL);
	take_at(fixture, 7, 0xffffffffc0000010, SPACE_KERNEL);
	take_at(fixture, 7, 0xffffffffa0000010, SPACE_KERNEL);
	fixture->profile = profile_builder_take(fixture->builder);
	assert_int_equal(leaf_binary(fixture->profile, 0)->kind, BINARY_KERNEL);
	assert_int_equal(leaf_binary(fixture->profile, 0)->reference, 0xffffffff81000000);
	assert_string_equal(
		profile_text(fixture->profile, leaf_binary(fixture->profile, 0)->short_name),
		"[kernel.kallsyms]");
	assert_string_equal(
		profile_text(fixture->profile, leaf_binary(fixture->profile, 1)->short_name),
		"[snd_pcm]");
	assert_int_equal(leaf_binary(fixture->profile, 2)->kind, BINARY_KSYMBOL);
	assert_string_equal(
		profile_text(fixture->profile, leaf_binary(fixture->profile, 2)->short_name),
		"bpf_prog_1234_on_sample");
}

/* Its names are told by their distance from where it lies. */
static void a_module_that_is_loaded_again_elsewhere_is_another_binary(void **state)
{
	struct fixture *fixture = *state;
	struct mapping module = {.pid = ~0u,
				 .space = SPACE_KERNEL,
				 .start = 0xffffffffc0000000,
				 .bytes = 0x1000,
				 .path = "/lib/modules/6/snd-pcm.ko.xz"};
	struct kernel_symbol goes = {.start = module.start, .flags = 1, .name = "[snd_pcm]"};

	sink_call(fixture->sink, on_mapping, &module);
	take_at(fixture, 7, 0xffffffffc0000010, SPACE_KERNEL);
	sink_call(fixture->sink, on_kernel_symbol, &goes);
	module.start = 0xffffffffc0100000;
	sink_call(fixture->sink, on_mapping, &module);
	take_at(fixture, 7, 0xffffffffc0000020, SPACE_KERNEL);
	take_at(fixture, 7, 0xffffffffc0100010, SPACE_KERNEL);
	fixture->profile = profile_builder_take(fixture->builder);
	assert_int_equal(leaf_binary(fixture->profile, 0)->start, 0xffffffffc0000000);
	assert_int_equal(leaf_binary(fixture->profile, 1)->kind, BINARY_NONE);
	assert_int_equal(leaf_binary(fixture->profile, 2)->start, 0xffffffffc0100000);
}

static void a_thread_id_used_again_is_another_thread(void **state)
{
	struct fixture *fixture = *state;
	struct thread_name first = {.pid = 7, .tid = 7, .name = "first"};
	struct thread_life fork = {.pid = 7, .tid = 7, .parent_pid = 1, .parent_tid = 1};
	struct thread_name second = {.pid = 7, .tid = 7, .name = "second"};

	sink_call(fixture->sink, on_name, &first);
	take_at(fixture, 7, 1, SPACE_USER);
	sink_call(fixture->sink, on_fork, &fork);
	sink_call(fixture->sink, on_name, &second);
	take_at(fixture, 7, 1, SPACE_USER);
	fixture->profile = profile_builder_take(fixture->builder);
	assert_int_equal(fixture->profile->threads.count, 3);
	assert_string_equal(profile_text(fixture->profile, fixture->profile->threads.items[1].comm),
			    "first");
	assert_string_equal(profile_text(fixture->profile, fixture->profile->threads.items[2].comm),
			    "second");
}

static void taking_starts_again_empty_and_keeps_the_processes(void **state)
{
	struct fixture *fixture = *state;

	machine_map(fixture->sink, 7, PROGRAM, "/bin/work");
	take_at(fixture, 7, PROGRAM + 1, SPACE_USER);
	profile_free(profile_builder_take(fixture->builder));
	take_at(fixture, 7, PROGRAM + 1, SPACE_USER);
	fixture->profile = profile_builder_take(fixture->builder);
	assert_int_equal(fixture->profile->totals.samples, 1);
	assert_string_equal(
		profile_text(fixture->profile, leaf_binary(fixture->profile, 0)->short_name),
		"work");
}

static void labels_not_kept_do_not_part_rows(void **state)
{
	struct fixture *fixture = *state;
	struct sample sample = {.weight = 1, .pid = 7, .tid = 7, .cpu = 0};

	sink_call(fixture->sink, on_sample, &sample);
	sample.cpu = 1;
	sink_call(fixture->sink, on_sample, &sample);
	fixture->profile = profile_builder_take(fixture->builder);
	assert_int_equal(fixture->profile->counts.count, 1);
	assert_int_equal(fixture->profile->labels.items[1].cpu, ~0u);
	assert_int_equal(fixture->profile->labels.items[1].tid, 7);
}

static void take_ending(struct event_sink *sink, u64 outermost, u8 cut)
{
	const struct frame frames[] = {{.address = PROGRAM + FIRST, .space = SPACE_USER},
				       {.address = outermost, .space = SPACE_USER}};
	const struct sample sample = {
		.address = frames[0].address,
		.pid = PERF1,
		.tid = PERF1,
		.space = SPACE_USER,
		.cut = cut,
		.walked = WALK_EH_FRAME,
		.frame_count = 2,
		.frames = frames,
	};

	assert_int_equal(sink->on_sample(sink, &sample), 0);
}

static void stacks_that_code_has_ended_are_counted_by_binary(void **state)
{
	struct fixture *fixture = *state;
	const struct early_end_row *ends;

	machine_boot(fixture->sink);
	take_ending(fixture->sink, LIBC + SECOND, CUT_NO_TABLE);
	take_ending(fixture->sink, PROGRAM + SECOND, CUT_NO_TABLE);
	take_ending(fixture->sink, LIBC + THIRD, CUT_NO_TABLE);
	take_ending(fixture->sink, LIBC + THIRD, CUT_UNSUPPORTED);
	take_ending(fixture->sink, LIBC + THIRD, CUT_TOO_DEEP);
	take_ending(fixture->sink, LIBC + THIRD, CUT_COMPLETE);
	fixture->profile = profile_builder_take(fixture->builder);
	ends = fixture->profile->early_ends.items;
	assert_int_equal(fixture->profile->early_ends.count, 3);
	assert_int_equal(ends[0].stacks, 2);
	assert_int_equal(ends[0].cut, CUT_NO_TABLE);
	assert_string_equal(
		profile_text(fixture->profile,
			     fixture->profile->binaries.items[ends[0].binary].short_name),
		"libc");
	assert_int_equal(ends[1].stacks, 1);
	assert_int_equal(ends[2].cut, CUT_UNSUPPORTED);
}

static void branches_are_counted_each_as_one(void **state)
{
	static const struct event_source source = {.name = "branches"};
	struct builder_settings settings = {
		.count_branches = true,
		.branch_flags = BRANCH_CYCLES,
	};
	const struct branch branches[] = {
		{PROGRAM + FIRST, LIBC + FIRST, BRANCH_PREDICTED | 7 << BRANCH_CYCLES_SHIFT},
		{PROGRAM + FIRST, LIBC + FIRST, BRANCH_MISPREDICTED | 7 << BRANCH_CYCLES_SHIFT},
		{PROGRAM + FIRST, LIBC + FIRST, 8 << BRANCH_CYCLES_SHIFT},
	};
	struct sample sample = {
		.weight = 1000,
		.pid = PERF1,
		.tid = PERF1,
		.address = LIBC + FIRST,
		.space = SPACE_USER,
		.branches = branches,
		.branch_count = ARRAY_COUNT(branches),
	};
	struct profile_builder *builder = profile_builder_new(&settings, &source, 1);
	struct profile *profile;

	machine_boot(profile_builder_sink(builder));
	sink_call(profile_builder_sink(builder), on_sample, &sample);
	profile = profile_builder_take(builder);
	assert_int_equal(profile->totals.samples, 1);
	assert_int_equal(profile->counts.count, 2); /* what was predicted is not told apart */
	assert_int_equal(profile->counts.items[0].weight, 2);
	assert_int_equal(profile->counts.items[1].weight, 1);
	assert_int_equal(profile->branches.items[profile->counts.items[1].branch].flags,
			 8 << BRANCH_CYCLES_SHIFT);
	assert_int_equal(profile->branches.items[profile->counts.items[0].branch].to,
			 profile->counts.items[0].leaf);
	profile_free(profile);
	profile_builder_free(builder);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_samples_are_one_row),
		cmocka_unit_test(callers_without_name_are_told_apart_by_virtual_address),
		cmocka_unit_test(callers_with_a_name_are_one_in_all_processes),
		cmocka_unit_test(nobody_is_told_apart_by_virtual_address_unasked),
		cmocka_unit_test(stacks_share_their_outer_frames),
		cmocka_unit_test(a_file_address_is_an_offset_into_the_file),
		cmocka_unit_test_setup_teardown(an_address_without_mapping_stays_as_it_is, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_mapping_made_later_does_not_name_earlier_samples,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			anonymous_code_belongs_to_the_perf_map_of_its_process, setup, teardown),
		cmocka_unit_test_setup_teardown(
			without_build_id_inodes_tell_files_of_one_path_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(
			with_a_build_id_or_without_a_file_inodes_do_not_count, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_that_holds_no_code_keeps_its_name, setup,
						teardown),
		cmocka_unit_test_setup_teardown(kernel_text_and_programs_are_binaries_of_their_own,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_module_that_is_loaded_again_elsewhere_is_another_binary, setup, teardown),
		cmocka_unit_test_setup_teardown(a_thread_id_used_again_is_another_thread, setup,
						teardown),
		cmocka_unit_test_setup_teardown(taking_starts_again_empty_and_keeps_the_processes,
						setup, teardown),
		cmocka_unit_test_setup_teardown(labels_not_kept_do_not_part_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(stacks_that_code_has_ended_are_counted_by_binary,
						setup, teardown),
		cmocka_unit_test(branches_are_counted_each_as_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
