/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Profiles that wait: what goes in comes out, oldest first, and not too much of it. */
#include "continuous/push_spool.h"

#include "base/fail.h"
#include "base/memory.h"
#include "unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { BLOCK = 4096 };

struct folder {
	char path[64];
	struct push_spool *spool;
};

static int open_folder(void **state)
{
	struct folder *folder = must_alloc(sizeof(*folder));

	strcpy(folder->path, "/tmp/bpfprof-spool-XXXXXX");
	assert_non_null(mkdtemp(folder->path));
	assert_int_equal(push_spool_open(folder->path, &folder->spool), 0);
	*state = folder;
	return 0;
}

static int remove_folder(void **state)
{
	struct folder *folder = *state;

	while (push_spool_count(folder->spool))
		push_spool_remove_oldest(folder->spool);
	push_spool_close(folder->spool);
	/* what is none of its own was put there by a test */
	CLEANUP(freep) char *other = must_format("%s/other", folder->path);
	unlink(other);
	assert_int_equal(rmdir(folder->path), 0);
	free(folder);
	return 0;
}

static void reopen(struct folder *folder)
{
	push_spool_close(folder->spool);
	assert_int_equal(push_spool_open(folder->path, &folder->spool), 0);
}

/* Adds one; returns how many went for it. */
static u64 add(struct folder *folder, u64 start_ns, u32 part, const char *body)
{
	struct push_profile profile = {
		.start_ns = start_ns,
		.end_ns = start_ns + 5,
		.part = part,
		.name = "bpfprof{host=a}",
		.body = {(const u8 *)body, strlen(body)},
	};
	u64 removed = 0;

	assert_int_equal(push_spool_add(folder->spool, &profile, &removed), 0);
	return removed;
}

static void expect_oldest(struct folder *folder, u64 start_ns, const char *body)
{
	CLEANUP(text_release) struct text storage = {0};
	struct push_profile profile;

	assert_int_equal(push_spool_oldest(folder->spool, &storage, &profile), 0);
	assert_int_equal(profile.start_ns, start_ns);
	assert_int_equal(profile.end_ns, start_ns + 5);
	assert_string_equal(profile.name, "bpfprof{host=a}");
	assert_int_equal(profile.body.length, strlen(body));
	assert_memory_equal(profile.body.start, body, strlen(body));
	push_spool_remove_oldest(folder->spool);
}

static void what_goes_in_comes_out_by_time_also_after_a_restart(void **state)
{
	struct folder *folder = *state;
	CLEANUP(text_release) struct text storage = {0};
	struct push_profile profile;

	add(folder, 30, 0, "third");
	add(folder, 10, 1, "second\nof two lines");
	add(folder, 10, 0, "");
	reopen(folder);
	assert_int_equal(push_spool_count(folder->spool), 3);
	assert_int_equal(push_spool_bytes(folder->spool), 3 * BLOCK);
	expect_oldest(folder, 10, "");
	expect_oldest(folder, 10, "second\nof two lines");
	expect_oldest(folder, 30, "third");
	assert_int_equal(push_spool_oldest(folder->spool, &storage, &profile), -ENOENT);
	assert_int_equal(push_spool_bytes(folder->spool), 0);
}

static void the_oldest_go_for_the_limit(void **state)
{
	struct folder *folder = *state;
	CLEANUP(freep) char *large = must_alloc(2 * BLOCK);

	assert_int_equal(push_spool_limit(folder->spool, 2 * BLOCK), 0);
	assert_int_equal(add(folder, 10, 0, "a"), 0);
	assert_int_equal(add(folder, 20, 0, "b"), 0);
	assert_int_equal(add(folder, 30, 0, "c"), 1);
	memset(large, 'x', 2 * BLOCK - 1);
	assert_int_equal(add(folder, 40, 0, large), 1); /* itself, which never fits */
	assert_int_equal(push_spool_limit(folder->spool, BLOCK), 1);
	expect_oldest(folder, 30, "c");
}

static void what_is_cut_is_told_and_what_is_foreign_left_alone(void **state)
{
	struct folder *folder = *state;
	CLEANUP(freep) char *cut = must_format("%s/%020d-%020d-00000.push", folder->path, 10, 15);
	CLEANUP(freep) char *other = must_format("%s/other", folder->path);
	CLEANUP(text_release) struct text storage = {0};
	struct push_profile profile;

	add(folder, 10, 0, "whole");
	add(folder, 20, 0, "next");
	assert_int_equal(truncate(cut, 34), 0);
	close(open(other, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	reopen(folder);
	assert_int_equal(push_spool_count(folder->spool), 2);
	assert_int_equal(push_spool_oldest(folder->spool, &storage, &profile), -EBADMSG);
	push_spool_remove_oldest(folder->spool);
	expect_oldest(folder, 20, "next");
	assert_int_equal(access(other, F_OK), 0);
}

static void it_is_for_its_owner_only(void **state)
{
	struct folder *folder = *state;
	CLEANUP(freep) char *below = must_format("%s/other", folder->path);
	struct push_spool *spool = NULL;
	struct stat status;

	assert_int_equal(push_spool_open(below, &spool), 0);
	push_spool_close(spool);
	assert_int_equal(stat(below, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0700);
	assert_int_equal(rmdir(below), 0);
	close(open(below, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	assert_true(push_spool_open(below, &spool) < 0);
}

static void a_folder_of_somebody_else_is_refused(void **state)
{
	struct folder *folder = *state;
	struct push_spool *spool = NULL;

	if (geteuid())
		skip();
	assert_int_equal(chown(folder->path, 12345, (gid_t)-1), 0);
	assert_int_equal(push_spool_open(folder->path, &spool), -EPERM);
	assert_non_null(strstr(fail_sentence(), "give another --push-spool"));
}

/* A window of a time that came again, after the clock was set back. */
static void one_of_the_same_name_takes_the_place_of_the_other(void **state)
{
	struct folder *folder = *state;

	add(folder, 10, 0, "first");
	add(folder, 20, 0, "behind");
	add(folder, 10, 0, "second");
	assert_int_equal(push_spool_count(folder->spool), 2);
	assert_int_equal(push_spool_bytes(folder->spool), 2 * BLOCK);
	expect_oldest(folder, 10, "second");
	expect_oldest(folder, 20, "behind");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_goes_in_comes_out_by_time_also_after_a_restart),
		TEST(the_oldest_go_for_the_limit),
		TEST(what_is_cut_is_told_and_what_is_foreign_left_alone),
		TEST(it_is_for_its_owner_only),
		TEST(a_folder_of_somebody_else_is_refused),
		TEST(one_of_the_same_name_takes_the_place_of_the_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
