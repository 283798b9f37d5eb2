/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Separate debug files: found, and believed only if they belong to the binary.
 */
#include "binary/binary.h"
#include "unit/elf_maker.h"
#include "unit/unit.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdio.h>
#include <sys/stat.h>
#include <zlib.h>

static const struct made_symbol function[] = {
	{"only_in_debug_file", 0x1010, 0x20, STB_LOCAL, STT_FUNC, STV_DEFAULT, 1},
};

/* A folder that is made for a test and taken away behind it. */
struct fixture {
	char folder[64];
};

static int make_folder(void **state)
{
	struct fixture *fixture = must_alloc(sizeof(*fixture));

	strcpy(fixture->folder, "/tmp/names-debug-XXXXXX");
	*state = fixture;
	return mkdtemp(fixture->folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(freep) char *command = must_format("rm -rf %s", fixture->folder);
	int status = system(command); /* NOLINT(cert-env33-c) */

	free(fixture);
	return status;
}

/* Writes what was made to a file below the folder, making folders on the way. */
static void write_file(const struct fixture *fixture, const char *path, const struct made_elf *made)
{
	CLEANUP(freep) char *full = must_format("%s%s", fixture->folder, path);
	CLEANUP(closep) int from = make_elf(made), to = -1;
	struct bytes image;

	for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(full, 0700);
		*slash = '/';
	}
	to = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(from >= 0 && to >= 0);
	assert_int_equal(file_map_fd(from, &image), 0);
	assert_int_equal(file_write_all(to, image.start, image.length), 0);
	file_unmap(&image);
}

static struct bytes map_made(const struct made_elf *made)
{
	CLEANUP(closep) int fd = make_elf(made);
	struct bytes image = {0};

	assert_int_equal(file_map_fd(fd, &image), 0);
	return image;
}

static struct made_elf debug_of(u8 id)
{
	return (struct made_elf){.id = {id}, .symbols = function, .symbol_count = 1, .is_debug = 1};
}

static const struct build_id id_seven = {.bytes = {7}, .length = 20};

/* Whether the debug file of a binary at /opt/app, below the folder, is found when there is a debug
 * file of `made` at `path`. */
static bool finds(const struct fixture *fixture, const struct made_elf *binary,
		  const struct build_id *id, const char *path, const struct made_elf *made)
{
	CLEANUP(file_unmap) struct bytes image = map_made(binary), debug = {0};
	CLEANUP(freep) char *full = must_format("%s%s", fixture->folder, path);
	int error;

	write_file(fixture, path, made);
	error = debug_file_read(fixture->folder, "/opt/app", image, id, &debug);
	unlink(full);
	assert_true(error == 0 || error == -ENOENT);
	return !error && has_symbol_table(debug);
}

static void every_place_is_looked_at(void **state)
{
	static const char *const places[] = {
		"/usr/lib/debug/.build-id/07/00000000000000000000000000000000000000.debug",
		"/opt/app.debug",
		"/opt/.debug/app.debug",
		"/usr/lib/debug/opt/app.debug",
		"/usr/lib/debug/opt/app",
	};
	struct made_elf binary = {.id = {7}, .link = "app.debug"}, debug = debug_of(7);

	for (size_t i = 0; i < ARRAY_COUNT(places); i++)
		assert_true(finds(*state, &binary, &id_seven, places[i], &debug));
	assert_false(finds(*state, &binary, &id_seven, "/opt/other.debug", &debug));
}

static void a_debug_file_of_another_build_is_refused(void **state)
{
	struct made_elf binary = {.id = {7}, .link = "app.debug"}, other = debug_of(8);

	assert_false(finds(*state, &binary, &id_seven, "/opt/app.debug", &other));
	assert_false(
		finds(*state, &binary, &id_seven,
		      "/usr/lib/debug/.build-id/07/00000000000000000000000000000000000000.debug",
		      &other));
}

static void a_debug_file_without_symbols_is_passed_over(void **state)
{
	struct made_elf binary = {.id = {7}, .link = "app.debug"}, empty = {.id = {7}};

	assert_false(finds(*state, &binary, &id_seven, "/opt/app.debug", &empty));
}

static void without_a_build_id_the_checksum_decides(void **state)
{
	struct made_elf debug = debug_of(0);
	CLEANUP(file_unmap) struct bytes image = map_made(&debug);
	u32 checksum = (u32)crc32(0, image.start, (uInt)image.length);
	struct made_elf right = {.link = "app.debug", .link_checksum = checksum};
	struct made_elf wrong = {.link = "app.debug", .link_checksum = checksum + 1};
	struct build_id none = {0};

	assert_true(finds(*state, &right, &none, "/opt/app.debug", &debug));
	assert_false(finds(*state, &wrong, &none, "/opt/app.debug", &debug));
}

static void a_link_cannot_name_a_path(void **state)
{
	struct made_elf binary = {.id = {7}, .link = "../opt/app.debug"}, debug = debug_of(7);

	assert_false(finds(*state, &binary, &id_seven, "/opt/../opt/app.debug", &debug));
}

static void links_of_a_root_do_not_lead_out_of_it(void **state)
{
	const struct fixture *fixture = *state;
	CLEANUP(freep) char *link = must_format("%s/leads-out", fixture->folder);
	CLEANUP(closep) int fd = -1;

	assert_int_equal(symlink("/etc/passwd", link), 0);
	assert_int_equal(open_below(fixture->folder, "/leads-out", LINKS_FOLLOWED, &fd), -ENOENT);
	assert_int_equal(open_below(fixture->folder, "/../../etc/passwd", LINKS_FOLLOWED, &fd),
			 -ENOENT);
	assert_int_equal(open_below("", link, LINKS_FOLLOWED, &fd), 0);
	close(fd);
	assert_int_equal(open_below("", link, LAST_LINK_REFUSED, &fd), -ELOOP);
	fd = -1;
}

static void what_is_no_regular_file_is_not_opened(void **state)
{
	const struct fixture *fixture = *state;
	CLEANUP(freep) char *fifo = must_format("%s/fifo", fixture->folder);
	CLEANUP(closep) int fd = -1;

	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(open_below("", fifo, LINKS_FOLLOWED, &fd), -EINVAL);
	assert_int_equal(open_below("", "/dev/null", LINKS_FOLLOWED, &fd), -EINVAL);
	assert_int_equal(open_below("", "/tmp", LINKS_FOLLOWED, &fd), -EINVAL);
}

static void packed_symbols_come_out(void **state)
{
	struct made_elf mini = debug_of(7), binary = {.id = {7}};
	CLEANUP(file_unmap) struct bytes mini_image = map_made(&mini), image = {0};
	CLEANUP(freep) u8 *packed = must_alloc(mini_image.length + 4096);
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();
	struct bytes unpacked;
	size_t packed_bytes = 0;

	(void)state;
	assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, mini_image.start,
						 mini_image.length, packed, &packed_bytes,
						 mini_image.length + 4096),
			 LZMA_OK);
	binary.packed = packed;
	binary.packed_bytes = packed_bytes;
	image = map_made(&binary);
	assert_int_equal(debug_data_unpack(image, &unpacked), 0);
	assert_int_equal(unpacked.length, mini_image.length);
	assert_int_equal(symbols_add_elf(symbols, image, unpacked), 0);
	assert_string_equal(symbols_find(symbols, 0x1010 - MADE_TEXT + MADE_OFFSET)->name,
			    "only_in_debug_file");
	free((void *)(uintptr_t)unpacked.start);
}

static void packed_symbols_that_are_damaged_or_missing_are_told_apart(void **state)
{
	struct made_elf none = {.id = {7}}, broken = {.packed = "no xz stream", .packed_bytes = 12};
	CLEANUP(file_unmap) struct bytes none_image = map_made(&none), image = map_made(&broken);
	struct bytes unpacked;

	(void)state;
	assert_int_equal(debug_data_unpack(none_image, &unpacked), -ENODATA);
	assert_int_equal(debug_data_unpack(image, &unpacked), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_place_is_looked_at, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(a_debug_file_of_another_build_is_refused,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(a_debug_file_without_symbols_is_passed_over,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(without_a_build_id_the_checksum_decides,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(a_link_cannot_name_a_path, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(links_of_a_root_do_not_lead_out_of_it, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(what_is_no_regular_file_is_not_opened, make_folder,
						remove_folder),
		cmocka_unit_test(packed_symbols_come_out),
		cmocka_unit_test(packed_symbols_that_are_damaged_or_missing_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
