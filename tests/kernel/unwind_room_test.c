/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory for unwind tables that is used up, and files that are too many.
 */
#include "kernel/unwind_asking.h"

#include <dlfcn.h>

/* A library that every machine has, with a table of some size. */
static const char *large_file(void)
{
	static Dl_info info;

	assert_int_not_equal(dladdr((void *)&printf, &info), 0);
	return info.dli_fname;
}

/* The words of its table. */
static u32 words_of_large_file(void)
{
	CLEANUP(unwind_table_freep) struct unwind_table *table = NULL;
	CLEANUP(table_words_release) struct table_words words = {0};
	CLEANUP(rule_set_release) struct rule_set rules;
	CLEANUP(file_unmap) struct bytes image = {0};

	assert_int_equal(map_file(large_file(), &image), 0);
	rule_set_init(&rules);
	assert_int_equal(unwind_table_read(image, &rules, UNWIND_RULE_MAX, &table), 0);
	assert_int_equal(table_words_make(table, &rules, &words), 0);
	return words.word_count;
}

/* A mapped copy of that file that has a table of its own: a byte of its header that nobody reads
 * differs. */
static struct file_wanted map_variant(u32 number)
{
	CLEANUP(freep) char *name = must_format("variant%u", number);
	CLEANUP(freep) char *path = copy_of(large_file(), name);
	CLEANUP(closep) int fd = open(path, O_WRONLY | O_CLOEXEC);
	struct file_wanted wanted;

	assert_int_equal(file_write_all_at(fd, &number, 4, EI_NIDENT - 4), 0);
	wanted = map_and_want(path);
	unlink(path); /* the mapping keeps it */
	return wanted;
}

/* Asks for variants until one finds no room, which is the last of them; unmap_all() them. */
static u32 ask_until_full(struct file_wanted *wanted, u32 most)
{
	for (u32 i = 0; i < most; i++) {
		wanted[i] = map_variant(i);
		if (ask_and_wait(&wanted[i]).state == FILE_NO_ROOM)
			return i + 1;
	}
	assert_true(false); /* that many cannot fit */
	return 0;
}

static void unmap_all(const struct file_wanted *wanted, u32 count)
{
	for (u32 i = 0; i < count; i++)
		unmap(&wanted[i]);
}

/* What the programs write when they look a file up. */
static void use(const struct file_wanted *wanted)
{
	struct unwind_file value = file_in_map(&wanted->file);

	value.last_used_ns = now_ns;
	assert_int_equal(bpf_map_update_elem(maps.files_fd, &wanted->file, &value, BPF_EXIST), 0);
}

/* Lets so many seconds pass, in which `used` is used. */
static void pass_seconds(u32 seconds, const struct file_wanted *used)
{
	for (u32 i = 0; i < seconds * 4; i++) {
		now_ns += 250000000;
		use(used);
		unwind_tables_work(tables, now_ns);
	}
}

enum { VARIANTS_MAX = 60 };

static void unused_tables_make_room_for_new_ones(void **state)
{
	static struct file_wanted wanted[VARIANTS_MAX];
	u32 count, fit = UNWIND_SEGMENT_WORDS / (words_of_large_file() + UNWIND_RULE_WORDS);
	struct unwind_place place, after;
	u32 numbers[VARIANTS_MAX];

	now_ns = 1000000000;
	open_tables(1);
	assert_in_range(fit, 2, VARIANTS_MAX - 2);
	count = ask_until_full(wanted, VARIANTS_MAX);
	assert_in_range(count, fit, fit + 2);
	place = file_in_map(&wanted[1].file).place;
	for (u32 i = 0; i + 1 < count; i++)
		numbers[i] = file_in_map(&wanted[i].file).table;
	pass_seconds(30, &wanted[1]);
	/* The one that was used is where it was; the one that found no room may be asked for again.
	 */
	after = file_in_map(&wanted[1].file).place;
	assert_memory_equal(&place, &after, sizeof(place));
	assert_int_equal(file_in_map(&wanted[0].file).state, ~0U);
	assert_int_equal(ask_and_wait(&wanted[count - 1]).state, FILE_READY);
	/* The programs remember rules by a table's number: none of one that is gone comes back. */
	for (u32 i = 0; i + 1 < count; i++)
		assert_int_not_equal(file_in_map(&wanted[count - 1].file).table, numbers[i]);
	assert_true(totals().evicted > 0);
	assert_int_equal(totals().kernel_bytes, UNWIND_SEGMENT_BYTES);
	assert_int_equal(counted(COUNTER_unwind_no_room), 1);
	unmap_all(wanted, count);
	(void)state;
}

static void tables_in_use_stay_where_there_is_no_room(void **state)
{
	static struct file_wanted wanted[VARIANTS_MAX];
	u32 count;

	now_ns = 1000000000;
	open_tables(1);
	count = ask_until_full(wanted, VARIANTS_MAX);
	for (u32 second = 0; second < 30; second++) {
		for (u32 i = 0; i + 1 < count; i++)
			use(&wanted[i]);
		pass_seconds(1, &wanted[0]);
	}
	for (u32 i = 0; i + 1 < count; i++)
		assert_int_equal(file_in_map(&wanted[i].file).state, FILE_READY);
	assert_int_equal(file_in_map(&wanted[count - 1].file).state, FILE_NO_ROOM);
	assert_int_equal(totals().evicted, 0);
	unmap_all(wanted, count);
	(void)state;
}

static void files_are_forgotten_before_the_map_is_full(void **state)
{
	struct file_wanted wanted = {.pid = 1U << 30, .start = 4096, .end = 8192};
	struct unwind_file value = {.state = FILE_WANTED};

	now_ns = 1000000000;
	open_tables(1);
	for (u32 i = 0; i < 3 * UNWIND_FILES_MAX; i++) {
		wanted.file.inode = 1000 + i;
		/* As many as the programs could meet in a second are never refused. */
		assert_int_equal(
			bpf_map_update_elem(maps.files_fd, &wanted.file, &value, BPF_NOEXIST), 0);
		unwind_tables_want(tables, &wanted);
		if (i % 512 == 0) {
			now_ns += 12000000000;
			work_until_idle();
		}
	}
	assert_true(totals().files <= UNWIND_FILES_MAX);
	(void)state;
}

#define TEST(name) cmocka_unit_test_teardown(name, close_tables)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(unused_tables_make_room_for_new_ones),
		TEST(tables_in_use_stay_where_there_is_no_room),
		TEST(files_are_forgotten_before_the_map_is_full),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
