/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions by the table of .eh_frame_hdr: what reading all of .eh_frame finds, too.
 */
#include "unit/unit.h"

#include "base/file.h"
#include "base/memory.h"
#include "binary/binary.h"
#include "unwind/unwind.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* This program: it has some thousand functions, and other objects' as well. */
static const char self[] = "/proc/self/exe";

static void check_same(struct function_index *index, const struct function_places *places,
		       u64 offset)
{
	const struct function_place *wanted = function_places_find(places, offset);
	const struct function_place *found = function_index_find(index, offset);

	assert_int_equal(!found, !wanted);
	if (!wanted)
		return;
	assert_int_equal(found->start, wanted->start);
	assert_int_equal(found->end, wanted->end);
	assert_int_equal(found->address, wanted->address);
}

static void what_is_found_is_what_reading_all_finds(void **state)
{
	CLEANUP(file_unmap) struct bytes image = {0};
	CLEANUP(closep) int fd = open(self, O_RDONLY);
	struct function_places places = {0};
	struct function_index *index = NULL;
	struct elf_digest digest;

	assert_int_equal(elf_image_frames(fd, &image, &digest), 0);
	assert_int_equal(function_places_read(image, &places), 0);
	assert_true(places.items.count > 100);
	assert_int_equal(function_index_open(fd, &index), 0);
	for (size_t i = 0; i < places.items.count; i++) {
		check_same(index, &places, places.items.items[i].start - 1);
		check_same(index, &places, places.items.items[i].start);
		check_same(index, &places, places.items.items[i].end - 1);
		check_same(index, &places, places.items.items[i].end);
	}
	assert_null(function_index_find(index, 0));
	assert_null(function_index_find(index, UINT64_MAX));
	function_index_free(index);
	vec_release(&places.items);
	(void)state;
}

static void each_function_has_a_number_of_its_own(void **state)
{
	CLEANUP(closep) int fd = open(self, O_RDONLY);
	CLEANUP(file_unmap) struct bytes image = {0};
	const struct function_place *first, *last;
	struct function_places places = {0};
	struct function_index *index = NULL;
	struct elf_digest digest;

	assert_int_equal(elf_image_frames(fd, &image, &digest), 0);
	assert_int_equal(function_places_read(image, &places), 0);
	assert_int_equal(function_index_open(fd, &index), 0);
	first = &places.items.items[0];
	last = &places.items.items[places.items.count - 1];
	assert_int_equal(function_index_number(index, function_index_find(index, last->start)), 0);
	assert_int_equal(function_index_number(index, function_index_find(index, first->start)), 1);
	assert_int_equal(function_index_number(index, function_index_find(index, last->end - 1)),
			 0);
	function_index_free(index);
	vec_release(&places.items);
	(void)state;
}

/* --- files that are not to be believed --- */

/* A copy of this program in memory. */
static int copy_self(struct bytes *ret_bytes)
{
	CLEANUP(closep) int fd = open(self, O_RDONLY);
	int copy = memfd_create("copy", 0);

	assert_int_equal(elf_image_whole(fd, ret_bytes), 0);
	assert_int_equal(file_write_all(copy, ret_bytes->start, ret_bytes->length), 0);
	return copy;
}

/* The program header of the table. */
static Elf64_Phdr table_of(struct bytes image)
{
	Elf64_Phdr segment = {0};
	Elf64_Ehdr header;

	memcpy(&header, image.start, sizeof(header));
	for (u32 i = 0; i < header.e_phnum && segment.p_type != PT_GNU_EH_FRAME; i++)
		memcpy(&segment, image.start + header.e_phoff + i * sizeof(segment),
		       sizeof(segment));
	assert_int_equal(segment.p_type, PT_GNU_EH_FRAME);
	return segment;
}

static void find_all_over(int fd, u64 length)
{
	struct function_index *index;

	if (function_index_open(fd, &index))
		return;
	for (u64 offset = 0; offset < length; offset += length / 64 + 1) {
		const struct function_place *place = function_index_find(index, offset);

		assert_true(!place || (place->start <= offset && offset < place->end));
	}
	function_index_free(index);
}

static void a_damaged_table_harms_nothing(void **state)
{
	CLEANUP(file_unmap) struct bytes image = {0};
	CLEANUP(closep) int fd = copy_self(&image);
	Elf64_Phdr table = table_of(image);
	u64 random = 1;

	/* The table, and what stands around it: one of the two sides is .eh_frame. */
	for (int i = 0; i < 500; i++) {
		u64 offset;
		u8 byte;

		random = random * 6364136223846793005 + 1442695040888963407;
		offset = table.p_offset + (random >> 33) % (2 * table.p_filesz);
		byte = (u8)(random >> 24);
		if (i < 12)
			offset = table.p_offset + (u64)i;
		assert_int_equal(pwrite(fd, &byte, 1, (off_t)offset), 1);
		find_all_over(fd, image.length);
	}
	(void)state;
}

static void a_file_without_a_table_is_told(void **state)
{
	CLEANUP(file_unmap) struct bytes image = {0};
	CLEANUP(closep) int fd = copy_self(&image), empty = memfd_create("empty", 0);
	Elf64_Phdr table = table_of(image);
	struct function_index *index;

	/* Version 2 of it, of which we know nothing. */
	assert_int_equal(pwrite(fd, "\2", 1, (off_t)table.p_offset), 1);
	assert_int_equal(function_index_open(fd, &index), -ENOTSUP);
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_true(function_index_open(fd, &index) < 0);
	assert_true(function_index_open(empty, &index) < 0);
	assert_int_equal(function_index_open(-1, &index), -EBADF);
	(void)state;
}

/* How the file's addresses differ from its offsets where the table is. */
static u64 shift_of(Elf64_Phdr table)
{
	return table.p_vaddr - table.p_offset;
}

struct row {
	s32 start, entry;
};

/* A row of the table, which stands behind four numbers. */
static u64 row_offset(Elf64_Phdr table, u64 number)
{
	return table.p_offset + 12 + number * sizeof(struct row);
}

static struct row row_of(struct bytes image, Elf64_Phdr table, u64 number)
{
	struct row row;

	memcpy(&row, image.start + row_offset(table, number), sizeof(row));
	return row;
}

static void write_at(int fd, u64 offset, const void *bytes, size_t count)
{
	assert_int_equal(pwrite(fd, bytes, count, (off_t)offset), count);
}

/* Of a file without sections only a walk along .eh_frame tells where that ends, and most of it has
 * not been copied. */
static void a_file_without_sections_is_told(void **state)
{
	enum { PLACE = 8192, FRAMES = 64 };
	CLEANUP(file_unmap) struct bytes image = {0};
	CLEANUP(closep) int fd = copy_self(&image);
	Elf64_Phdr table = table_of(image), moved = table;
	/* .eh_frame behind it, by distance; one function */
	const struct {
		u8 head[4];
		s32 frames;
		u32 count;
		struct row row;
	} index_section = {{1, 0x1b, 0x03, 0x3b}, FRAMES - 4, 1, {FRAMES, FRAMES}};
	static const u32 entry[8] = {20};
	struct function_index *index;
	Elf64_Ehdr header;

	memcpy(&header, image.start, sizeof(header));
	for (u64 at = header.e_phoff; at < 4096; at += sizeof(moved))
		if (!memcmp(image.start + at, &table, sizeof(table))) {
			moved.p_offset = PLACE;
			moved.p_vaddr = PLACE + shift_of(table);
			write_at(fd, at, &moved, sizeof(moved));
		}
	header.e_shoff = 0;
	header.e_shnum = header.e_shstrndx = 0;
	write_at(fd, 0, &header, sizeof(header));
	write_at(fd, PLACE, &index_section, sizeof(index_section));
	write_at(fd, PLACE + FRAMES, entry, sizeof(entry));
	assert_int_equal(function_index_open(fd, &index), -ENOTSUP);
	(void)state;
}

/* The binary search need not pass a row that is in the wrong place. */
static void a_function_elsewhere_is_none(void **state)
{
	CLEANUP(file_unmap) struct bytes image = {0};
	CLEANUP(closep) int fd = copy_self(&image);
	Elf64_Phdr table = table_of(image);
	u32 count;

	memcpy(&count, image.start + table.p_offset + 8, sizeof(count));
	assert_true(count > 100);
	for (u64 number = 1; number < 64; number++) {
		struct row last = row_of(image, table, count - 1);
		struct row pair[] = {last, row_of(image, table, number)};
		u64 start = table.p_offset + (u64)(s64)pair[1].start;
		const struct function_place *place;
		struct function_index *index = NULL;

		pair[1].entry = last.entry;
		write_at(fd, row_offset(table, number - 1), pair, sizeof(pair));
		assert_int_equal(function_index_open(fd, &index), 0);
		place = function_index_find(index, start);
		assert_true(!place || (place->start <= start && start < place->end));
		function_index_free(index);
		write_at(fd, row_offset(table, number - 1),
			 image.start + row_offset(table, number - 1), sizeof(pair));
	}
	(void)state;
}

static long memory_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* An entry of a quarter of a GiB, in a file of half of one that has no bytes on the disk. */
static void an_endless_entry_takes_no_memory(void **state)
{
	static const u32 length = 256 << 20;
	CLEANUP(file_unmap) struct bytes image = {0};
	CLEANUP(closep) int fd = copy_self(&image);
	Elf64_Phdr table = table_of(image);
	struct row row = row_of(image, table, 1);
	u64 start = table.p_offset + (u64)(s64)row.start;
	struct function_index *index = NULL;
	long before = memory_kib();

	write_at(fd, table.p_offset + (u64)(s64)row.entry, &length, sizeof(length));
	assert_int_equal(ftruncate(fd, 512 << 20), 0);
	assert_int_equal(function_index_open(fd, &index), 0);
	function_index_find(index, start);
	assert_in_range(memory_kib() - before, 0, 64 << 10);
	function_index_free(index);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_found_is_what_reading_all_finds),
		cmocka_unit_test(each_function_has_a_number_of_its_own),
		cmocka_unit_test(a_damaged_table_harms_nothing),
		cmocka_unit_test(a_file_without_a_table_is_told),
		cmocka_unit_test(a_file_without_sections_is_told),
		cmocka_unit_test(a_function_elsewhere_is_none),
		cmocka_unit_test(an_endless_entry_takes_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
