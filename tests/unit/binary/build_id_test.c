/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The build id of files and notes.
 */
#include "binary/build_id.h"
#include "unit/build_id_at.h"
#include "unit/unit.h"

#include "base/file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Two notes, little endian: ABI tag, then a build id of 8 bytes. */
static const u8 notes[] = {
	4, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 'G', 'N', 'U', 0, 9, 9, 9, 9, /* NT_GNU_ABI_TAG */
	4, 0, 0, 0, 8, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 1, 2, 3, 4, 0xab, 6, 7, 8,
};

/* The value with its bytes in the order that the file has. */
static u64 in_order(u64 value, int bytes, bool is_big)
{
	u64 result = 0;

	for (int i = 0; i < bytes; i++)
		((u8 *)&result)[i] = (u8)(value >> 8 * (is_big ? bytes - 1 - i : i));
	return result;
}

/* An ELF file in memory with one PT_NOTE that holds a build id of 20 bytes 1, 2, …. */
static int open_elf(bool is_64_bit, bool is_big)
{
	u8 image[512] = {0x7f, 'E', 'L', 'F', is_64_bit ? 2 : 1, is_big ? 2 : 1, 1};
	u32 note[4] = {(u32)in_order(4, 4, is_big), (u32)in_order(20, 4, is_big),
		       (u32)in_order(3, 4, is_big), 0};
	int fd = (int)syscall(SYS_memfd_create, "elf", 0);

	memcpy(&note[3], "GNU", 4);
	memcpy(image + 256, note, 16);
	for (u8 i = 0; i < 20; i++)
		image[272 + i] = i + 1;
	if (is_64_bit) {
		Elf64_Ehdr *header = (Elf64_Ehdr *)image;
		Elf64_Phdr *program = (Elf64_Phdr *)(image + 64);

		header->e_phoff = in_order(64, 8, is_big);
		header->e_phentsize = (u16)in_order(56, 2, is_big);
		header->e_phnum = (u16)in_order(1, 2, is_big);
		program->p_type = (u32)in_order(PT_NOTE, 4, is_big);
		program->p_offset = in_order(256, 8, is_big);
		program->p_filesz = in_order(36, 8, is_big);
	} else {
		Elf32_Ehdr *header = (Elf32_Ehdr *)image;
		Elf32_Phdr *program = (Elf32_Phdr *)(image + 52);

		header->e_phoff = (u32)in_order(52, 4, is_big);
		header->e_phentsize = (u16)in_order(32, 2, is_big);
		header->e_phnum = (u16)in_order(1, 2, is_big);
		program->p_type = (u32)in_order(PT_NOTE, 4, is_big);
		program->p_offset = (u32)in_order(256, 4, is_big);
		program->p_filesz = (u32)in_order(36, 4, is_big);
	}
	assert_int_equal(write(fd, image, sizeof(image)), sizeof(image));
	return fd;
}

static void notes_give_the_id_behind_other_notes(void **state)
{
	struct build_id id;
	char text[BUILD_ID_TEXT_BYTES];

	(void)state;
	assert_int_equal(build_id_in_notes((struct bytes){notes, sizeof(notes)}, false, &id), 0);
	assert_string_equal(build_id_text(&id, text), "01020304ab060708");
}

static void notes_without_an_id_or_cut_are_told_apart(void **state)
{
	struct build_id id = {.length = 77};

	(void)state;
	assert_int_equal(build_id_in_notes((struct bytes){notes, 20}, false, &id), -ENODATA);
	assert_int_equal(build_id_in_notes((struct bytes){notes, 0}, false, &id), -ENODATA);
	assert_int_equal(build_id_in_notes((struct bytes){notes, sizeof(notes) - 1}, false, &id),
			 -EBADMSG);
	assert_int_equal(id.length, 77);
}

static void every_class_and_byte_order_is_read(void **state)
{
	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		CLEANUP(closep) int fd = open_elf(kind & 1, kind & 2);
		struct build_id id;

		assert_int_equal(build_id_of_fd(fd, &id), 0);
		assert_int_equal(id.length, 20);
		assert_int_equal(id.bytes[0], 1);
		assert_int_equal(id.bytes[19], 20);
	}
}

static void a_file_cut_anywhere_gives_an_error(void **state)
{
	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		CLEANUP(closep) int fd = open_elf(kind & 1, kind & 2);

		for (int length = 291; length >= 0; length--) {
			struct build_id id;

			assert_int_equal(ftruncate(fd, length), 0);
			assert_int_equal(build_id_of_fd(fd, &id), -EBADMSG);
		}
	}
}

static void what_is_no_elf_file_is_refused(void **state)
{
	struct build_id id;

	(void)state;
	assert_int_equal(build_id_at("/etc/passwd", &id), -EBADMSG);
	assert_int_equal(build_id_at("/dev/zero", &id), -EBADMSG);
	assert_int_equal(build_id_at("/", &id), -EISDIR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notes_give_the_id_behind_other_notes),
		cmocka_unit_test(notes_without_an_id_or_cut_are_told_apart),
		cmocka_unit_test(every_class_and_byte_order_is_read),
		cmocka_unit_test(a_file_cut_anywhere_gives_an_error),
		cmocka_unit_test(what_is_no_elf_file_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
