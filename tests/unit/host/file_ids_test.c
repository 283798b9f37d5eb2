/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Build ids of mapped files: what is read, what is remembered, what is not believed.
 */
#include "base/clock.h"
#include "base/memory.h"
#include "binary/binary.h"
#include "host/file_ids.h"
#include "host/mapped_file.h"
#include "unit/build_id_at.h"
#include "unit/unit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { SECOND_NS = 1000000000 };

static struct file_ids *ids;
static struct build_id ours; /* of this program */
static char path[64];

static void copy_program(void)
{
	CLEANUP(freep) char *command = must_format("cp -f /proc/%d/exe %s", getpid(), path);

	assert_int_equal(system(command), 0);
}

static void write_text(const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int set_up(void **state)
{
	snprintf(path, sizeof(path), "/tmp/file_ids_test.%d", getpid());
	ids = file_ids_new((struct id_reader){0});
	(void)state;
	return build_id_at("/proc/self/exe", &ours);
}

static int tear_down(void **state)
{
	file_ids_free(ids);
	unlink(path);
	(void)state;
	return 0;
}

/* The file at `path` as a process that has ended had mapped it. */
static struct mapping mapped_once(u64 time_ns)
{
	struct mapping mapping = {.time_ns = time_ns, .pid = ~0u, .start = 4096, .bytes = 4096};
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	mapping.path = path;
	mapping.inode = status.st_ino;
	mapping.major = major(status.st_dev);
	mapping.minor = minor(status.st_dev);
	return mapping;
}

static void assert_ours(const struct mapping *mapping)
{
	assert_int_equal(mapping->build_id_bytes, ours.length);
	assert_memory_equal(mapping->build_id, ours.bytes, ours.length);
}

static void a_file_is_read_once_for_all_its_mappings(void **state)
{
	copy_program();
	for (int i = 0; i < 100; i++) {
		struct mapping mapping = mapped_once(1);

		file_ids_fill(ids, -1, &mapping);
		assert_ours(&mapping);
	}
	assert_int_equal(file_ids_counts(ids).looked, 1);
	assert_int_equal(file_ids_counts(ids).read, 1);
	(void)state;
}

static void a_file_without_build_id_is_remembered_as_such(void **state)
{
	write_text("no program");
	for (int i = 0; i < 100; i++) {
		struct mapping mapping = mapped_once(1);

		file_ids_fill(ids, -1, &mapping);
		assert_int_equal(mapping.build_id_bytes, 0);
	}
	assert_int_equal(file_ids_counts(ids).read, 1);
	(void)state;
}

static void another_file_at_the_path_is_not_taken_for_it(void **state)
{
	struct mapping mapping;

	copy_program();
	mapping = mapped_once(1);
	mapping.inode++;
	file_ids_fill(ids, -1, &mapping);
	assert_int_equal(mapping.build_id_bytes, 0);
	assert_int_equal(file_ids_counts(ids).read, 0);
	(void)state;
}

static void the_same_inode_of_another_device_is_not_taken_for_it(void **state)
{
	struct mapping mapping;

	copy_program();
	mapping = mapped_once(1);
	mapping.minor++;
	file_ids_fill(ids, -1, &mapping);
	assert_int_equal(mapping.build_id_bytes, 0);
	(void)state;
}

/* Of the inode at `path`; any number where the file system does not tell. */
static u32 generation_of_file(void)
{
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	u32 generation = 1;

	mapped_file_generation(fd, &generation);
	return generation;
}

static void an_inode_that_is_used_anew_is_another_file(void **state)
{
	struct mapping old, new;

	copy_program();
	new = old = mapped_once(1);
	new.inode_generation = generation_of_file();
	old.inode_generation = new.inode_generation + 1;
	file_ids_fill(ids, -1, &old);
	file_ids_fill(ids, -1, &new);
	assert_ours(&new);
	assert_int_equal(file_ids_counts(ids).looked, 2);
	(void)state;
}

/* What is written from now on has another time than what was written before. */
static void let_the_files_clock_tick(void)
{
	struct stat status;
	u64 written_ns;

	assert_int_equal(stat(path, &status), 0);
	written_ns = (u64)status.st_ctim.tv_sec * SECOND_NS + (u64)status.st_ctim.tv_nsec;
	while (clock_ns(CLOCK_REALTIME_COARSE) <= written_ns)
		;
}

static void a_file_overwritten_in_place_is_read_again_a_second_later(void **state)
{
	struct mapping old, new;

	write_text("no program");
	old = mapped_once(1);
	file_ids_fill(ids, -1, &old);
	let_the_files_clock_tick();
	copy_program();
	new = mapped_once(1 + SECOND_NS);
	file_ids_fill(ids, -1, &new);
	assert_ours(&new);
	(void)state;
}

static void what_is_told_late_has_the_id_that_its_file_had_then(void **state)
{
	u64 now_ns = clock_ns(CLOCK_MONOTONIC);
	struct mapping first, before, after;

	copy_program();
	first = mapped_once(now_ns - 3 * (u64)SECOND_NS);
	file_ids_fill(ids, -1, &first);
	before = mapped_once(now_ns - SECOND_NS);
	let_the_files_clock_tick();
	write_text("no program");
	after = mapped_once(clock_ns(CLOCK_MONOTONIC));
	file_ids_tell_time(ids, after.time_ns + 1);
	file_ids_fill(ids, -1, &before);
	file_ids_fill(ids, -1, &after);
	assert_ours(&before);
	assert_int_equal(after.build_id_bytes, 0);
	(void)state;
}

static void one_look_does_for_all_that_is_told_late(void **state)
{
	struct mapping mapping;

	copy_program();
	mapping = mapped_once(1);
	file_ids_fill(ids, -1, &mapping);
	assert_false(file_ids_found_in_place(ids));
	file_ids_tell_time(ids, 1 + 10 * (u64)SECOND_NS);
	for (u64 second = 1; second < 10; second++) {
		mapping = mapped_once(1 + second * SECOND_NS);
		file_ids_fill(ids, -1, &mapping);
		assert_ours(&mapping);
		assert_true(file_ids_found_in_place(ids));
	}
	assert_int_equal(file_ids_counts(ids).looked, 2);
	(void)state;
}

static void a_file_that_did_not_change_is_not_read_again(void **state)
{
	copy_program();
	for (u64 second = 0; second < 5; second++) {
		struct mapping mapping = mapped_once(1 + second * SECOND_NS);

		file_ids_fill(ids, -1, &mapping);
		assert_ours(&mapping);
	}
	assert_int_equal(file_ids_counts(ids).looked, 5);
	assert_int_equal(file_ids_counts(ids).read, 1);
	(void)state;
}

static void a_deleted_file_keeps_the_id_that_was_read(void **state)
{
	struct mapping before, after;

	copy_program();
	before = after = mapped_once(1);
	file_ids_fill(ids, -1, &before);
	unlink(path);
	after.time_ns += SECOND_NS;
	file_ids_fill(ids, -1, &after);
	assert_ours(&after);
	(void)state;
}

/* Maps the file at `path`, and deletes it. The caller unmaps it. */
static struct mapping map_and_delete(void)
{
	struct mapping mapping = mapped_once(1);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *start = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	assert_true(start != MAP_FAILED);
	close(fd);
	unlink(path);
	mapping.pid = (u32)getpid();
	mapping.start = (uintptr_t)start;
	return mapping;
}

static void unmap(const struct mapping *mapping)
{
	munmap((void *)(uintptr_t)mapping->start, 4096);
}

static void a_deleted_file_is_found_through_the_process_that_maps_it(void **state)
{
	struct mapping mapping;

	copy_program();
	mapping = map_and_delete();
	file_ids_fill(ids, -1, &mapping);
	unmap(&mapping);
	assert_ours(&mapping);
	(void)state;
}

static void a_mapping_that_was_cut_since_is_found(void **state)
{
	struct mapping mapping;

	copy_program();
	mapping = map_and_delete();
	mapping.bytes *= 3;
	file_ids_fill(ids, -1, &mapping);
	unmap(&mapping);
	assert_ours(&mapping);
	(void)state;
}

/* By the time that somebody looks, the process may have mapped another one there. */
static void another_file_of_that_number_where_it_was_mapped_is_not_taken_for_it(void **state)
{
	struct mapping elsewhere, before;
	u32 generation;

	copy_program();
	generation = generation_of_file();
	elsewhere = before = map_and_delete();
	elsewhere.minor++;
	before.inode_generation = generation + 1;
	file_ids_fill(ids, -1, &elsewhere);
	assert_int_equal(elsewhere.build_id_bytes, 0);
	if (generation != 1) { /* else the file system may not tell */
		file_ids_fill(ids, -1, &before);
		assert_int_equal(before.build_id_bytes, 0);
	}
	unmap(&before);
	(void)state;
}

static void a_fifo_is_not_opened(void **state)
{
	struct mapping mapping;

	assert_int_equal(mkfifo(path, 0600), 0);
	mapping = mapped_once(1);
	file_ids_fill(ids, -1, &mapping); /* would wait for a writer for ever */
	assert_int_equal(mapping.build_id_bytes, 0);
	(void)state;
}

static void what_has_a_build_id_or_no_inode_is_left_alone(void **state)
{
	struct mapping mapping;

	copy_program();
	mapping = mapped_once(1);
	mapping.build_id_bytes = 16;
	file_ids_fill(ids, -1, &mapping);
	assert_int_equal(mapping.build_id_bytes, 16);
	mapping = (struct mapping){.path = "//anon", .start = 4096, .bytes = 4096};
	file_ids_fill(ids, -1, &mapping);
	assert_int_equal(mapping.build_id_bytes, 0);
	assert_int_equal(file_ids_counts(ids).looked, 0);
	(void)state;
}

static void more_files_than_fit_are_still_answered(void **state)
{
	struct mapping mapping;

	copy_program();
	for (u64 generation = 1; generation <= 70000; generation++) {
		mapping = mapped_once(1);
		mapping.path = "/nowhere";
		mapping.inode_generation = generation;
		file_ids_fill(ids, -1, &mapping);
	}
	mapping = mapped_once(1);
	file_ids_fill(ids, -1, &mapping);
	assert_ours(&mapping);
	(void)state;
}

/* A program that nobody writes, mapped here. */
static struct mapping map_shell(void)
{
	int fd = open("/bin/sh", O_RDONLY | O_CLOEXEC);
	struct mapping mapping = {.pid = (u32)getpid(), .bytes = 4096, .path = "/bin/sh"};
	struct build_id id;
	struct stat status;
	void *start = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	assert_true(start != MAP_FAILED);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(build_id_of_fd(fd, &id), 0);
	close(fd);
	mapping.start = (uintptr_t)start;
	mapping.inode = status.st_ino;
	mapping.major = major(status.st_dev);
	mapping.minor = minor(status.st_dev);
	mapping.build_id_bytes = id.length;
	memcpy(mapping.build_id, id.bytes, id.length);
	return mapping;
}

static int count_and_read(void *context, int fd, struct build_id *ret_id)
{
	++*(int *)context;
	return build_id_of_fd(fd, ret_id);
}

static void whether_a_file_is_overwritten_is_not_read_twice(void **state)
{
	int reads = 0;
	struct id_reader reader = {count_and_read, &reads};
	struct mapping mapping = map_shell();
	struct file_stamp checked = {0};

	assert_int_equal(mapped_file_is_overwritten(&mapping, reader, &checked), 0);
	assert_int_equal(mapped_file_is_overwritten(&mapping, reader, &checked), 0);
	assert_int_equal(reads, 1);
	/* as if somebody had written into it since */
	checked.changed_ns--;
	mapping.build_id[0] ^= 0xff;
	assert_int_equal(mapped_file_is_overwritten(&mapping, reader, &checked), 1);
	assert_int_equal(mapped_file_is_overwritten(&mapping, reader, &checked), 1);
	assert_int_equal(reads, 3);
	munmap((void *)(uintptr_t)mapping.start, 4096);
	assert_true(mapped_file_is_overwritten(&mapping, reader, &checked) < 0);
	(void)state;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(a_file_is_read_once_for_all_its_mappings),
		TEST(a_file_without_build_id_is_remembered_as_such),
		TEST(another_file_at_the_path_is_not_taken_for_it),
		TEST(the_same_inode_of_another_device_is_not_taken_for_it),
		TEST(an_inode_that_is_used_anew_is_another_file),
		TEST(a_file_overwritten_in_place_is_read_again_a_second_later),
		TEST(whether_a_file_is_overwritten_is_not_read_twice),
		TEST(what_is_told_late_has_the_id_that_its_file_had_then),
		TEST(one_look_does_for_all_that_is_told_late),
		TEST(a_file_that_did_not_change_is_not_read_again),
		TEST(a_deleted_file_keeps_the_id_that_was_read),
		TEST(a_deleted_file_is_found_through_the_process_that_maps_it),
		TEST(a_mapping_that_was_cut_since_is_found),
		TEST(another_file_of_that_number_where_it_was_mapped_is_not_taken_for_it),
		TEST(a_fifo_is_not_opened),
		TEST(what_has_a_build_id_or_no_inode_is_left_alone),
		TEST(more_files_than_fit_are_still_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
