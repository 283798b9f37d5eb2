/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies of ELF files that others write to meanwhile.
 */
#include "base/file.h"
#include "base/memory.h"
#include "binary/binary.h"
#include "unit/elf_maker.h"
#include "unit/map_file.h"
#include "unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static const struct made_symbol functions[] = {
	{"worker", 0x1010, 0x20, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 1},
};
static const struct made_elf program = {
	.id = {7}, .symbols = functions, .symbol_count = 1, .link = "app.debug"};

static void assert_names_worker(struct bytes image)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();
	u64 offset = 0x1010 - MADE_TEXT + MADE_OFFSET;

	assert_int_equal(symbols_add_elf(symbols, image, (struct bytes){0}), 0);
	assert_non_null(symbols_find(symbols, offset));
	assert_string_equal(symbols_find(symbols, offset)->name, "worker");
}

static void a_file_cut_short_after_it_was_read_still_names(void **state)
{
	CLEANUP(closep) int fd = make_elf(&program);
	CLEANUP(file_unmap) struct bytes image = {0};
	struct build_id id;

	(void)state;
	assert_int_equal(elf_image_read(fd, &image), 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_names_worker(image);
	assert_true(has_symbol_table(image));
	assert_int_equal(build_id_of_image(image, &id), 0);
	assert_int_equal(id.bytes[0], 7);
}

static void a_file_overwritten_after_it_was_read_keeps_its_names(void **state)
{
	CLEANUP(closep) int fd = make_elf(&program);
	CLEANUP(file_unmap) struct bytes image = {0};
	CLEANUP(freep) u8 *noise = NULL;

	(void)state;
	assert_int_equal(elf_image_read(fd, &image), 0);
	noise = must_alloc(image.length);
	memset(noise, 0xff, image.length);
	assert_int_equal(file_write_all_at(fd, noise, image.length, 0), 0);
	assert_names_worker(image);
}

/* Whatever the length, it is read or refused; that it does not crash is what counts. */
static void a_file_cut_anywhere_is_read_or_refused(void **state)
{
	CLEANUP(closep) int fd = make_elf(&program);
	struct stat status;

	(void)state;
	assert_int_equal(fstat(fd, &status), 0);
	for (off_t length = status.st_size - 1; length >= 0; length -= 7) {
		CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();
		CLEANUP(file_unmap) struct bytes image = {0};
		int error;

		assert_int_equal(ftruncate(fd, length), 0);
		error = elf_image_read(fd, &image);
		assert_true(error == 0 || error == -EBADMSG);
		if (!error)
			symbols_add_elf(symbols, image, (struct bytes){0});
	}
}

static void a_sparse_file_of_a_terabyte_is_not_read_whole(void **state)
{
	CLEANUP(closep) int fd = make_elf(&program);
	CLEANUP(file_unmap) struct bytes image = {0};

	(void)state;
	assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
	assert_int_equal(elf_image_read(fd, &image), 0);
	assert_int_equal(image.length, (u64)1 << 40);
	assert_names_worker(image);
}

static void what_is_no_elf_file_is_refused(void **state)
{
	CLEANUP(closep) int fd = memfd_create("text", 0), folder = open("/tmp", O_RDONLY);
	struct bytes image = {0};

	(void)state;
	assert_int_equal(elf_image_read(fd, &image), -EBADMSG);
	assert_int_equal(file_write_all(fd, "#!/bin/sh\n", 10), 0);
	assert_int_equal(elf_image_read(fd, &image), -EBADMSG);
	assert_int_equal(elf_image_read(folder, &image), -EBADMSG);
	assert_null(image.start);
}

/* A file in memory with the bytes of this program. The caller closes it. */
static int copy_of_ourselves(void)
{
	CLEANUP(file_unmap) struct bytes image = {0};
	int fd = memfd_create("copy", 0);

	assert_int_equal(map_file("/proc/self/exe", &image), 0);
	assert_int_equal(file_write_all(fd, image.start, image.length), 0);
	return fd;
}

/* Where a section lies in the file. */
static u64 offset_of_section(const char *name)
{
	CLEANUP(file_unmap) struct bytes image = {0};
	Elf_Scn *section = NULL;
	GElf_Shdr header = {0};
	size_t names;
	Elf *elf;

	assert_int_equal(map_file("/proc/self/exe", &image), 0);
	elf = elf_memory((char *)(uintptr_t)image.start, image.length);
	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	do {
		section = elf_nextscn(elf, section);
		assert_non_null(gelf_getshdr(section, &header));
	} while (strcmp(elf_strptr(elf, names, header.sh_name), name) != 0);
	elf_end(elf);
	return header.sh_offset;
}

static void a_copy_for_unwinding_holds_the_frames_and_little_else(void **state)
{
	CLEANUP(file_unmap) struct bytes image = {0};
	CLEANUP(file_unmap) struct bytes whole = {0};
	CLEANUP(closep) int fd = copy_of_ourselves();
	u64 frames = offset_of_section(".eh_frame"), text = offset_of_section(".text");
	struct elf_digest digest;

	(void)state;
	assert_int_equal(map_file("/proc/self/exe", &whole), 0);
	assert_int_equal(elf_image_frames(fd, &image, &digest), 0);
	assert_int_equal(image.length, whole.length);
	assert_memory_equal(image.start + frames, whole.start + frames, 4096);
	for (u64 at = text + 4096; at < text + 8192; at++)
		assert_int_equal(image.start[at], 0);
}

static struct elf_digest digest_of(int fd)
{
	CLEANUP(file_unmap) struct bytes image = {0};
	struct elf_digest digest;

	assert_int_equal(elf_image_frames(fd, &image, &digest), 0);
	return digest;
}

static void copies_of_a_file_have_one_digest_until_their_frames_differ(void **state)
{
	CLEANUP(closep) int fd = copy_of_ourselves(), other = copy_of_ourselves();
	struct elf_digest digests[3];

	(void)state;
	assert_int_equal(file_write_all_at(other, "x", 1, (off_t)offset_of_section(".text")), 0);
	digests[0] = digest_of(fd);
	digests[1] = digest_of(other);
	assert_int_equal(
		file_write_all_at(other, "x", 1, (off_t)offset_of_section(".eh_frame") + 100), 0);
	digests[2] = digest_of(other);
	assert_memory_equal(&digests[0], &digests[1], sizeof(digests[0]));
	assert_memory_not_equal(&digests[0], &digests[2], sizeof(digests[0]));
}

static void frames_of_a_file_without_section_names_are_among_what_is_loaded(void **state)
{
	CLEANUP(closep) int fd = copy_of_ourselves();
	CLEANUP(file_unmap) struct bytes image = {0};
	u64 frames = offset_of_section(".eh_frame");
	struct elf_digest digest;
	Elf64_Ehdr header;
	u8 wanted[64];

	(void)state;
	assert_int_equal(pread(fd, &header, sizeof(header), 0), sizeof(header));
	header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
	assert_int_equal(file_write_all_at(fd, &header, sizeof(header), 0), 0);
	assert_int_equal(pread(fd, wanted, sizeof(wanted), (off_t)frames), sizeof(wanted));
	assert_int_equal(elf_image_frames(fd, &image, &digest), 0);
	assert_memory_equal(image.start + frames, wanted, sizeof(wanted));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_cut_short_after_it_was_read_still_names),
		cmocka_unit_test(a_file_overwritten_after_it_was_read_keeps_its_names),
		cmocka_unit_test(a_file_cut_anywhere_is_read_or_refused),
		cmocka_unit_test(a_sparse_file_of_a_terabyte_is_not_read_whole),
		cmocka_unit_test(what_is_no_elf_file_is_refused),
		cmocka_unit_test(a_copy_for_unwinding_holds_the_frames_and_little_else),
		cmocka_unit_test(copies_of_a_file_have_one_digest_until_their_frames_differ),
		cmocka_unit_test(frames_of_a_file_without_section_names_are_among_what_is_loaded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
