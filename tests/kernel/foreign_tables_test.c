/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind tables that a process without rights reads: the same as ours, and what becomes of it when
 * a file ends that process or keeps it for ever.
 */
#include "kernel/unwind_asking.h"

#include "capture/confined_files.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum { SEGMENTS = 8, FILES_EACH = 8 };

/* What a hostile file has behind its end, so that readers who do not look for it find an ELF. */
static const char crashes[] = "!crash!!", hangs[] = "!hang!!!";

static struct confined *reader;

/* As if there were a mistake in our readers that somebody knows of. */
static void fall_for(int fd)
{
	char last[sizeof(crashes) - 1] = "";
	volatile u64 turns = 0;
	struct stat status;

	if (fstat(fd, &status) || status.st_size < (off_t)sizeof(last) ||
	    pread(fd, last, sizeof(last), status.st_size - (off_t)sizeof(last)) < 0)
		return;
	if (!memcmp(last, crashes, sizeof(last)))
		raise(SIGSEGV);
	while (!memcmp(last, hangs, sizeof(last)) && turns < UINT64_MAX)
		turns++;
}

static int fall_and_identify(const int *fds, size_t fd_count, struct bytes question,
			     struct text *answer)
{
	fall_for(fds[0]);
	return confined_files_works[0](fds, fd_count, question, answer);
}

static int fall_and_read(const int *fds, size_t fd_count, struct bytes question,
			 struct text *answer)
{
	fall_for(fds[0]);
	return confined_files_works[1](fds, fd_count, question, answer);
}

static confined_work *const works[CONFINED_FILES_WORKS] = {fall_and_identify, fall_and_read};

static int start_reader(void **state)
{
	struct confined_settings settings = {
		.works = works,
		.work_count = CONFINED_FILES_WORKS,
		.jobs_each = FILES_EACH,
		.most_cpu_s = 1,
		.most_wall_s = 60,
	};

	return make_folder(state) || confined_start(&settings, &reader) ? -1 : 0;
}

static int stop_reader(void **state)
{
	confined_stop(reader);
	return remove_folder(state);
}

static void open_with_reader(void)
{
	open_tables(SEGMENTS);
	unwind_tables_read_elsewhere(tables, reader);
}

static char *hostile(const char *name, const char *end)
{
	char *path = copy_of_ourselves(name);
	CLEANUP(freep) char *command = must_format("printf %s >>%s", end, path);

	assert_int_equal(system(command), 0);
	return path;
}

static enum unwind_file_state state_of(const char *path)
{
	struct file_wanted wanted = map_and_want(path);
	struct unwind_file file = ask_and_wait(&wanted);

	unmap(&wanted);
	return file.state;
}

static u32 *words_at(const struct unwind_place *place, u32 *ret_count)
{
	u32 count = place->rule_count * UNWIND_RULE_WORDS + place->page_count;
	u32 *words = must_resize_array(NULL, count, sizeof(u32));

	for (u32 i = 0; i < count; i++) {
		u32 at = place->first_word + i;

		words[i] = unwind_tables_read_chunk(
			tables, at / UNWIND_CHUNK_WORDS)[at % UNWIND_CHUNK_WORDS];
	}
	*ret_count = count;
	return words;
}

static void tables_are_those_that_we_would_make(void **state)
{
	CLEANUP(freep) char *path = copy_of_ourselves("same");
	CLEANUP(freep) u32 *theirs = NULL;
	CLEANUP(freep) u32 *ours = NULL;
	u32 count, our_count;
	struct file_wanted wanted = map_and_want(path);
	struct unwind_file file;

	open_with_reader();
	file = ask_and_wait(&wanted);
	assert_int_equal(file.state, FILE_READY);
	theirs = words_at(&file.place, &count);
	close_tables(state);

	open_tables(SEGMENTS);
	file = ask_and_wait(&wanted);
	ours = words_at(&file.place, &our_count);
	assert_int_equal(our_count, count);
	assert_memory_equal(ours, theirs, count * sizeof(u32));
	unmap(&wanted);
}

static void copies_share_a_table(void **state)
{
	CLEANUP(freep) char *first = copy_of_ourselves("first");
	CLEANUP(freep) char *second = copy_of_ourselves("second");
	u64 before;

	(void)state;
	open_with_reader();
	before = totals().tables;
	assert_int_equal(state_of(first), FILE_READY);
	assert_int_equal(state_of(second), FILE_READY);
	assert_int_equal(totals().tables, before + 1);
}

static void a_file_that_ends_its_reader_costs_itself_only(void **state)
{
	CLEANUP(freep) char *path = hostile("crashes", crashes);
	CLEANUP(freep) char *other = copy_of_ourselves("after");

	(void)state;
	open_with_reader();
	assert_int_equal(state_of(path), FILE_NO_TABLE);
	assert_int_equal(counted(COUNTER_file_reader_died), 1);
	assert_int_equal(state_of(other), FILE_READY);
	assert_int_equal(counted(COUNTER_file_reader_died), 1);
}

static void a_file_that_keeps_its_reader_is_given_up(void **state)
{
	CLEANUP(freep) char *path = hostile("hangs", hangs);
	CLEANUP(freep) char *other = copy_of_ourselves("after_that");

	(void)state;
	open_with_reader();
	assert_int_equal(state_of(path), FILE_NO_TABLE);
	assert_int_equal(counted(COUNTER_file_reader_slow), 1);
	assert_int_equal(state_of(other), FILE_READY);
}

static void what_is_no_binary_is_none_there_either(void **state)
{
	(void)state;
	open_with_reader();
	assert_int_equal(state_of("/etc/passwd"), FILE_NO_TABLE);
	assert_int_equal(counted(COUNTER_unwind_unreadable), 1);
}

static void build_ids_are_read_there_too(void **state)
{
	CLEANUP(freep) char *path = copy_of_ourselves("identified");
	CLEANUP(freep) char *crasher = hostile("crashes_ids", crashes);
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	CLEANUP(closep) int crashing = open(crasher, O_RDONLY | O_CLOEXEC);
	struct id_reader ids = confined_files_ids(reader), own = confined_files_ids(NULL);
	struct build_id id = {0}, our_id = {0};

	(void)state;
	assert_int_equal(id_reader_ask(&ids, crashing, &id), -EOWNERDEAD);
	assert_int_equal(id_reader_ask(&ids, fd, &id), 0);
	assert_int_equal(id_reader_ask(&own, fd, &our_id), 0);
	assert_true(build_id_is(&id, our_id.bytes, our_id.length));
}

#define TEST(name) cmocka_unit_test_teardown(name, close_tables)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(tables_are_those_that_we_would_make),
		TEST(copies_share_a_table),
		TEST(a_file_that_ends_its_reader_costs_itself_only),
		TEST(a_file_that_keeps_its_reader_is_given_up),
		TEST(what_is_no_binary_is_none_there_either),
		TEST(build_ids_are_read_there_too),
	};

	return cmocka_run_group_tests(tests, start_reader, stop_reader);
}
