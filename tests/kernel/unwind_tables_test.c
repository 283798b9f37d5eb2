/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests for unwind tables, as the BPF programs send them, and what the maps hold then.
 */
#include "kernel/unwind_asking.h"

enum { SEGMENTS = 8 };

/* --- reading words as the programs do --- */

struct chunk {
	u32 words[UNWIND_CHUNK_WORDS];
};

static u32 read_word(u32 at)
{
	static struct chunk chunk;
	u32 segment = at / UNWIND_SEGMENT_WORDS, inner = 0;
	u32 row = at % UNWIND_SEGMENT_WORDS / UNWIND_CHUNK_WORDS;
	CLEANUP(closep) int fd = -1;

	assert_int_equal(bpf_map_lookup_elem(maps.segments_fd, &segment, &inner), 0);
	fd = bpf_map_get_fd_by_id(inner);
	assert_true(fd >= 0);
	assert_int_equal(bpf_map_lookup_elem(fd, &row, &chunk), 0);
	return chunk.words[at % UNWIND_CHUNK_WORDS];
}

/* Compares all words of a table with those that are made from the file now. */
static void assert_words_of(const struct unwind_place *place, const char *path)
{
	CLEANUP(unwind_table_freep) struct unwind_table *table = NULL;
	CLEANUP(table_words_release) struct table_words words = {0};
	CLEANUP(rule_set_release) struct rule_set rules;
	CLEANUP(file_unmap) struct bytes image = {0};
	u32 step;

	assert_int_equal(map_file(path, &image), 0);
	rule_set_init(&rules);
	assert_int_equal(unwind_table_read(image, &rules, UNWIND_RULE_MAX, &table), 0);
	assert_int_equal(table_words_make(table, &rules, &words), 0);
	assert_int_equal(place->rule_count, words.place.rule_count);
	assert_int_equal(place->first_page, words.place.first_page);
	assert_int_equal(place->page_count, words.place.page_count);
	/* All of a small one; of a large one some, at odd distances. */
	step = words.word_count / 4000 | 1;
	for (u32 i = 0; i < words.word_count; i += step)
		assert_int_equal(read_word(place->first_word + i), words.words[i]);
}

/* --- tests --- */

static void a_file_that_is_asked_for_has_its_table_in_the_map(void **state)
{
	CLEANUP(freep) char *path = copy_of_ourselves("asked");
	struct file_wanted wanted;
	struct unwind_file file;
	u32 epoch;

	open_tables(SEGMENTS);
	epoch = *maps.epoch;
	wanted = map_and_want(path);
	file = ask_and_wait(&wanted);
	unmap(&wanted);
	assert_int_equal(file.state, FILE_READY);
	assert_int_equal(file.place.first_word % UNWIND_RULE_WORDS, 0);
	assert_int_not_equal(file.table, 0);
	assert_true(file.seal == unwind_seal(file.table, &file.place));
	assert_words_of(&file.place, path);
	assert_int_not_equal(*maps.epoch, epoch);
	(void)state;
}

static void a_large_table_lies_across_segments(void **state)
{
	static const char *const paths[] = {"/usr/lib/gcc/x86_64-linux-gnu/12/cc1",
					    "/usr/lib/gcc/aarch64-linux-gnu/12/cc1",
					    "/lib/x86_64-linux-gnu/libLLVM-14.so.1"};
	size_t found = 0;

	open_tables(SEGMENTS);
	while (found < ARRAY_COUNT(paths) && access(paths[found], R_OK))
		found++;
	if (found == ARRAY_COUNT(paths)) {
		skip();
	} else {
		struct file_wanted wanted = map_and_want(paths[found]);
		struct unwind_file file = ask_and_wait(&wanted);

		unmap(&wanted);
		assert_int_equal(file.state, FILE_READY);
		assert_true(totals().kernel_bytes > UNWIND_SEGMENT_BYTES);
		assert_words_of(&file.place, paths[found]);
	}
	(void)state;
}

#ifdef __aarch64__
enum { IS_ARM64 = 1 };
#else
enum { IS_ARM64 = 0 };
#endif

static void the_vdso_is_there_from_the_start(void **state)
{
	struct unwind_file_key key = {.inode = UNWIND_VDSO_INODE};
	struct unwind_file file;

	open_tables(1);
	file = file_in_map(&key);
	if (IS_ARM64) { /* whose kernels leave the information out */
		assert_true(file.state == FILE_READY || file.state == FILE_NO_TABLE);
	} else {
		assert_int_equal(file.state, FILE_READY);
		assert_int_equal(file.place.first_page, 0);
	}
	(void)state;
}

static void copies_of_a_file_share_one_table(void **state)
{
	CLEANUP(freep) char *path = copy_of_ourselves("one");
	CLEANUP(freep) char *other = copy_of_ourselves("other");
	struct file_wanted first, second;
	struct unwind_file files[2];
	u64 count;

	open_tables(SEGMENTS);
	first = map_and_want(path);
	second = map_and_want(other);
	files[0] = ask_and_wait(&first);
	count = totals().tables;
	files[1] = ask_and_wait(&second);
	assert_memory_equal(&files[0].place, &files[1].place, sizeof(files[0].place));
	assert_int_equal(totals().tables, count);
	unmap(&first);
	unmap(&second);
	(void)state;
}

static void a_file_whose_process_has_ended_is_found_by_its_path(void **state)
{
	CLEANUP(freep) char *path = copy_of_ourselves("ended");
	struct file_wanted wanted = wanted_of(path);
	struct mapping mapping = {.space = SPACE_USER,
				  .pid = 1U << 30,
				  .start = 4096,
				  .bytes = 4096,
				  .major = wanted.file.device >> 20,
				  .minor = wanted.file.device & 0xfffff,
				  .inode = wanted.file.inode,
				  .path = path};
	struct event_sink *sink;

	open_tables(SEGMENTS);
	sink = unwind_tables_sink(tables, PREFETCH_RUNNING);
	unwind_tables_started(tables, 0);
	assert_int_equal(sink_call(sink, on_mapping, &mapping), 0);
	wanted.pid = 1U << 30;
	wanted.start = 4096;
	wanted.end = 8192;
	assert_int_equal(ask_and_wait(&wanted).state, FILE_READY);
	assert_int_equal(counted(COUNTER_unwind_file_gone), 0);
	(void)state;
}

static void a_deleted_file_is_read_while_it_is_mapped(void **state)
{
	CLEANUP(freep) char *path = copy_of_ourselves("deleted");
	struct file_wanted wanted;

	open_tables(SEGMENTS);
	wanted = map_and_want(path);
	unlink(path);
	assert_int_equal(ask_and_wait(&wanted).state, FILE_READY);
	unmap(&wanted);
	(void)state;
}

static void a_file_opened_in_time_is_read_after_its_process_has_ended(void **state)
{
	CLEANUP(freep) char *path = copy_of_ourselves("in_time");
	struct file_wanted wanted;

	open_tables(SEGMENTS);
	wanted = map_and_want(path);
	unlink(path);
	ask(&wanted);
	unmap(&wanted);
	work_until_idle();
	assert_int_equal(file_in_map(&wanted.file).state, FILE_READY);
	(void)state;
}

static void a_file_that_is_gone_may_be_asked_for_again(void **state)
{
	CLEANUP(freep) char *path = copy_of_ourselves("gone");
	struct file_wanted wanted;

	open_tables(SEGMENTS);
	wanted = map_and_want(path);
	unmap(&wanted);
	assert_int_equal(ask_and_wait(&wanted).state, ~0U);
	assert_int_equal(counted(COUNTER_unwind_file_gone), 1);
	wanted = map_and_want(path);
	assert_int_equal(ask_and_wait(&wanted).state, FILE_READY);
	unmap(&wanted);
	(void)state;
}

/* The programs keep no stacks for a file that could not be found twice: it may never be. */
static void nobody_waits_for_a_file_that_is_gone_again(void **state)
{
	CLEANUP(freep) char *path = copy_of_ourselves("gone-again");
	struct file_wanted wanted;

	open_tables(SEGMENTS);
	wanted = map_and_want(path);
	unmap(&wanted);
	assert_int_equal(ask_and_wait(&wanted).state, ~0U);
	assert_int_equal(ask_and_wait(&wanted).state, FILE_GONE);
	assert_int_equal(counted(COUNTER_unwind_file_gone), 2);
	(void)state;
}

static void another_file_at_the_same_place_is_not_taken_for_it(void **state)
{
	CLEANUP(freep) char *path = copy_of_ourselves("wanted");
	CLEANUP(freep) char *other = copy_of_ourselves("instead");
	struct file_wanted wanted, instead;

	open_tables(SEGMENTS);
	wanted = wanted_of(path);
	instead = map_and_want(other);
	wanted.start = instead.start;
	wanted.end = instead.end;
	assert_int_equal(ask_and_wait(&wanted).state, ~0U);
	assert_int_equal(counted(COUNTER_unwind_file_gone), 1);
	unmap(&instead);
	(void)state;
}

/* Writes a file of so many bytes, of which the first are given. Owned by the caller. */
static char *write_file(const char *name, const void *bytes, size_t length)
{
	char *path = must_format("%s/%s", folder, name);
	CLEANUP(closep) int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	assert_int_equal(file_write_all(fd, bytes, length), 0);
	assert_int_equal(ftruncate(fd, 8192), 0);
	return path;
}

static void what_is_no_binary_has_no_table_and_is_counted(void **state)
{
	CLEANUP(freep) char *path = write_file("text", "no binary at all\n", 17);
	struct file_wanted wanted;

	open_tables(SEGMENTS);
	wanted = map_and_want(path);
	assert_int_equal(ask_and_wait(&wanted).state, FILE_NO_TABLE);
	assert_int_equal(counted(COUNTER_unwind_unreadable), 1);
	unmap(&wanted);
	(void)state;
}

static void a_binary_without_frames_has_no_table_and_is_counted(void **state)
{
	static const Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(header)};
	CLEANUP(freep) char *path = write_file("frameless", &header, sizeof(header));
	struct file_wanted wanted;
	u64 before;

	open_tables(SEGMENTS);
	before = counted(COUNTER_unwind_no_information); /* the vDSO, perhaps */
	wanted = map_and_want(path);
	assert_int_equal(ask_and_wait(&wanted).state, FILE_NO_TABLE);
	assert_int_equal(counted(COUNTER_unwind_no_information), before + 1);
	unmap(&wanted);
	(void)state;
}

static void a_table_larger_than_the_memory_finds_no_room(void **state)
{
	static const char large[] = "/lib/x86_64-linux-gnu/libLLVM-14.so.1";
	struct file_wanted wanted;

	open_tables(1);
	if (access(large, R_OK)) {
		skip();
	} else {
		wanted = map_and_want(large);
		assert_int_equal(ask_and_wait(&wanted).state, FILE_NO_ROOM);
		unmap(&wanted);
		assert_int_equal(counted(COUNTER_unwind_no_room), 1);
		assert_true(totals().kernel_bytes <= UNWIND_SEGMENT_BYTES);
	}
	(void)state;
}

static u32 most_entries(int map_fd)
{
	struct bpf_map_info info = {0};
	u32 bytes = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(map_fd, &info, &bytes), 0);
	return info.max_entries;
}

static void without_tables_their_maps_have_one_row(void **state)
{
	struct program_plan plan = {.settings = {.max_stack = 127, .wants_stacks = true},
				    .source_count = 1,
				    .ring_bytes = 1 << 18};

	skip_without_permission();
	assert_int_equal(programs_load(&plan, &programs), 0);
	maps = programs_unwind_maps(programs);
	assert_int_equal(maps.segment_count, 0);
	assert_int_equal(most_entries(maps.segments_fd), 1);
	assert_int_equal(most_entries(maps.files_fd), 1);
	(void)state;
}

#define TEST(name) cmocka_unit_test_teardown(name, close_tables)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_that_is_asked_for_has_its_table_in_the_map),
		TEST(a_large_table_lies_across_segments),
		TEST(the_vdso_is_there_from_the_start),
		TEST(copies_of_a_file_share_one_table),
		TEST(a_file_whose_process_has_ended_is_found_by_its_path),
		TEST(a_deleted_file_is_read_while_it_is_mapped),
		TEST(a_file_opened_in_time_is_read_after_its_process_has_ended),
		TEST(a_file_that_is_gone_may_be_asked_for_again),
		TEST(nobody_waits_for_a_file_that_is_gone_again),
		TEST(another_file_at_the_same_place_is_not_taken_for_it),
		TEST(what_is_no_binary_has_no_table_and_is_counted),
		TEST(a_binary_without_frames_has_no_table_and_is_counted),
		TEST(a_table_larger_than_the_memory_finds_no_room),
		TEST(without_tables_their_maps_have_one_row),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
