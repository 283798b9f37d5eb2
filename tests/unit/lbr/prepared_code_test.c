/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which file is read as the binary that was recorded, before a mapping of it is met and then.
 */
#include "base/memory.h"
#include "lbr/lbr.h"
#include "unit/lbr/own_code.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { PID = 7, DEPTH = 16 };

/* Where main() returns to: a binary that was not written over just now, as tests are. */
static u64 inside_libc;

/* Counts the binaries that are read. */
struct reading {
	struct event_sink next, identifying;
	struct lbr_keeper keeper;
	struct lbr_stitcher *stitcher;
	char path[PATH_MAX];
	struct build_id id; /* of that file, as mappings tell it; length 0: they do not */
	struct stat file;
	u32 read;
};

static int find_path(struct event_sink *sink, const struct mapping *mapping)
{
	struct reading *reading = (struct reading *)sink;

	if (inside_libc - mapping->start < mapping->bytes)
		snprintf(reading->path, sizeof(reading->path), "%s", mapping->path);
	return 0;
}

/* Hands the mapping of the file on with what is known of that. */
static int identify(struct event_sink *sink, const struct mapping *mapping)
{
	const struct reading *reading = (const void *)((const char *)sink -
						       offsetof(struct reading, identifying));
	struct mapping known = *mapping;

	if (!strcmp(mapping->path, reading->path)) {
		known.build_id_bytes = reading->id.length;
		memcpy(known.build_id, reading->id.bytes, sizeof(known.build_id));
		known.major = major(reading->file.st_dev);
		known.minor = minor(reading->file.st_dev);
		known.inode = reading->file.st_ino;
	}
	return sink_call(lbr_stitcher_sink(reading->stitcher), on_mapping, &known);
}

static int count_reading(void *context, const struct build_id *id, struct bytes *ret_block)
{
	((struct reading *)context)->read++;
	(void)id, (void)ret_block;
	return -ENOENT;
}

static void keep_nothing(void *context, const struct build_id *id, u64 rows, struct bytes block)
{
	(void)context, (void)id, (void)rows, (void)block;
}

static const struct event_source source = {
	.has_chain = true, .has_branches = true, .branch_bits = 1 << 11};

static void begin(struct reading *reading, u64 least_bytes)
{
	struct lbr_settings settings = {
		.tier = LBR_CERTAIN, .depth = DEPTH, .keeper = &reading->keeper};
	CLEANUP(closep) int fd = -1;

	*reading = (struct reading){.keeper = {count_reading, keep_nothing, reading, least_bytes}};
	reading->next.on_mapping = find_path;
	reading->identifying.on_mapping = identify;
	map_own_code(&reading->next, PID);
	assert_int_equal(reading->path[0], '/');
	fd = open(reading->path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(fstat(fd, &reading->file), 0);
	assert_int_equal(build_id_of_fd(fd, &reading->id), 0);
	reading->stitcher = lbr_stitcher_new(&settings, &reading->next);
	lbr_stitcher_set_sources(reading->stitcher, &source, 1);
}

/* Stitches a stack in it. */
static void stitch(struct reading *reading)
{
	struct event_sink *sink = lbr_stitcher_sink(reading->stitcher);
	const struct frame leaf = {.address = inside_libc, .space = SPACE_USER};
	const struct branch entry = {.from = inside_libc, .to = inside_libc};

	map_own_code(&reading->identifying, PID);
	assert_int_equal(sink->on_sample(sink, &(struct sample){.pid = PID,
								.tid = PID,
								.has_chain = true,
								.frames = &leaf,
								.frame_count = 1,
								.branches = &entry,
								.branch_count = 1}),
			 0);
}

static void a_prepared_binary_is_not_read_again(void **state)
{
	struct reading reading;

	begin(&reading, 1);
	lbr_stitcher_prepare(reading.stitcher, reading.path, &reading.id);
	assert_int_equal(reading.read, 1);
	lbr_stitcher_prepare(reading.stitcher, reading.path, &reading.id);
	assert_int_equal(reading.read, 1);
	stitch(&reading);
	assert_int_equal(reading.read, 1);
	assert_int_equal(lbr_stitcher_tally(reading.stitcher)->binaries_missing, 0);
	lbr_stitcher_free(reading.stitcher);
	(void)state;
}

static void another_build_than_was_recorded_is_not_taken(void **state)
{
	struct build_id other = {.length = BUILD_ID_MAX_BYTES};
	struct reading reading;

	memset(other.bytes, 0xa5, sizeof(other.bytes));
	begin(&reading, 1);
	reading.id.length = 0;
	lbr_stitcher_prepare(reading.stitcher, reading.path, &other);
	assert_int_equal(reading.read, 0);
	stitch(&reading);
	assert_int_equal(reading.read, 1);
	assert_int_equal(lbr_stitcher_tally(reading.stitcher)->binaries_missing, 0);
	lbr_stitcher_free(reading.stitcher);
	(void)state;
}

/* Only a mapping tells which file it was. */
static void a_binary_without_build_id_is_not_prepared(void **state)
{
	const struct build_id none = {0};
	struct reading reading;

	begin(&reading, 1);
	reading.id.length = 0;
	lbr_stitcher_prepare(reading.stitcher, reading.path, &none);
	assert_int_equal(reading.read, 0);
	stitch(&reading);
	assert_int_equal(reading.read, 1);
	lbr_stitcher_free(reading.stitcher);
	(void)state;
}

static void without_build_id_another_inode_is_another_file(void **state)
{
	struct reading reading;

	begin(&reading, 1);
	reading.id.length = 0;
	reading.file.st_ino++;
	stitch(&reading);
	assert_int_equal(reading.read, 0);
	assert_int_equal(lbr_stitcher_tally(reading.stitcher)->binaries_missing, 1);
	lbr_stitcher_free(reading.stitcher);
	(void)state;
}

static void small_binaries_and_no_files_are_not_prepared(void **state)
{
	struct reading reading;

	begin(&reading, 1ULL << 40);
	lbr_stitcher_prepare(reading.stitcher, reading.path, &reading.id);
	lbr_stitcher_prepare(reading.stitcher, "[vdso]", &reading.id);
	lbr_stitcher_prepare(reading.stitcher, "//anon", &reading.id);
	lbr_stitcher_prepare(reading.stitcher, "/", &reading.id);
	lbr_stitcher_prepare(reading.stitcher, "/no/such/file", &reading.id);
	assert_int_equal(reading.read, 0);
	lbr_stitcher_free(reading.stitcher);
	(void)state;
}

int main(void)
{
	inside_libc = (u64)(uintptr_t)__builtin_return_address(0);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_prepared_binary_is_not_read_again),
		cmocka_unit_test(another_build_than_was_recorded_is_not_taken),
		cmocka_unit_test(a_binary_without_build_id_is_not_prepared),
		cmocka_unit_test(without_build_id_another_inode_is_another_file),
		cmocka_unit_test(small_binaries_and_no_files_are_not_prepared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
