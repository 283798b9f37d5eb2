/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names that are read elsewhere are those that we would read.
 */
#include "symbolize/confined_names.h"
#include "symbolize/names_cache_files.h"

#include "base/file.h"
#include "base/memory.h"
#include "binary/binary.h"
#include "unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Two caches: one reads by itself, the other has it done. */
struct fixture {
	char folder[64];
	struct confined *confined;
	struct names_cache *own, *other;
	char *own_path, *other_path;
};

static struct names_cache *open_cache(const char *path, struct confined *confined)
{
	struct names_cache_settings settings = {.directory = path, .confined = confined};
	struct names_cache *cache = NULL;

	assert_int_equal(names_cache_open(&settings, &cache), 0);
	return cache;
}

static int set_up(void **state)
{
	struct fixture *fixture = must_alloc(sizeof(*fixture));
	struct confined_settings settings = {.works = confined_names_works,
					     .work_count = CONFINED_NAMES_WORKS,
					     .most_cpu_s = 60,
					     .most_wall_s = 600};

	*state = fixture;
	strcpy(fixture->folder, "/tmp/confined-names-XXXXXX");
	if (!mkdtemp(fixture->folder) || confined_start(&settings, &fixture->confined))
		return -1;
	fixture->own_path = must_format("%s/own", fixture->folder);
	fixture->other_path = must_format("%s/other", fixture->folder);
	fixture->own = open_cache(fixture->own_path, NULL);
	fixture->other = open_cache(fixture->other_path, fixture->confined);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(freep) char *command = must_format("rm -rf %s", fixture->folder);

	names_cache_close(fixture->own);
	names_cache_close(fixture->other);
	confined_stop(fixture->confined);
	free(fixture->own_path);
	free(fixture->other_path);
	free(fixture);
	return system(command); /* NOLINT(cert-env33-c) */
}

static bool shell(const struct fixture *fixture, const char *script)
{
	CLEANUP(freep) char *command = must_format("cd %s && %s", fixture->folder, script);

	return !system(command); /* NOLINT(cert-env33-c) */
}

/* A copy of this program in the folder. */
static char *copy_program(const struct fixture *fixture, const char *name)
{
	CLEANUP(freep)
	char *script = must_format("cp /proc/%d/exe %s", (int)getpid(), name);

	assert_true(shell(fixture, script));
	return must_format("%s/%s", fixture->folder, name);
}

static struct running_binary binary_at(const char *path, struct build_id *id)
{
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_int_equal(build_id_of_fd(fd, id), 0);
	return (struct running_binary){.path = path,
				       .build_id = id->bytes,
				       .build_id_bytes = id->length,
				       .owner_pid = ~0u};
}

static void assert_same_names(const struct fixture *fixture, const struct running_binary *binary)
{
	assert_int_equal(names_cache_keep(fixture->own, binary), 0);
	assert_int_equal(names_cache_keep(fixture->other, binary), 0);
	assert_true(shell(fixture, "test -n \"$(find own -name '*.names' -size +1k)\""));
	assert_true(shell(fixture, "diff -r own other"));
}

static void names_are_the_same(void **state)
{
	const struct fixture *fixture = *state;
	CLEANUP(freep) char *path = copy_program(fixture, "program");
	struct build_id id;
	struct running_binary binary = binary_at(path, &id);

	assert_same_names(fixture, &binary);
}

static void debug_files_are_found(void **state)
{
	const struct fixture *fixture = *state;
	CLEANUP(freep) char *path = copy_program(fixture, "program");
	struct build_id id;
	struct running_binary binary;

	if (!shell(fixture, "objcopy --only-keep-debug program program.debug && "
			    "objcopy --strip-all --add-gnu-debuglink=program.debug program"))
		skip(); /* no binutils */
	binary = binary_at(path, &id);
	assert_same_names(fixture, &binary);
	assert_true(shell(fixture, "rm -r own/?? other/?? program.debug"));
	assert_int_equal(names_cache_keep(fixture->other, &binary), 0);
	assert_true(shell(fixture, "test -z \"$(find other -name '*.names' -size +64k)\""));
}

static void a_file_that_is_open_needs_no_build_id(void **state)
{
	const struct fixture *fixture = *state;
	CLEANUP(freep) char *path = copy_program(fixture, "program");
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct running_binary binary = {.path = path, .owner_pid = ~0u, .is_open = true, .fd = fd};

	unlink(path);
	assert_same_names(fixture, &binary);
}

/* Of more addresses than a question holds. */
static void names_of_made_code_are_the_same(void **state)
{
	enum { FUNCTIONS = 200 };
	const struct fixture *fixture = *state;
	CLEANUP(freep) char *path = must_format("%s/perf.map", fixture->folder);
	CLEANUP(closep) int map = -1;
	u64 addresses[FUNCTIONS];
	struct jit_code code = {.addresses = addresses, .count = FUNCTIONS};
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	for (u32 i = 0; i < 2 * FUNCTIONS; i++)
		fprintf(out, "%x 10 function_%u\n", 0x1000 + i * 16, i);
	fclose(out);
	for (u32 i = 0; i < FUNCTIONS; i++)
		addresses[i] = 0x1000 + i * 16 + 5;
	map = open(path, O_RDONLY | O_CLOEXEC);
	code.map = map;
	code.id = jit_code_id(map, 1, addresses, FUNCTIONS);
	assert_int_equal(names_cache_keep_jit(fixture->own, &code), 0);
	assert_int_equal(names_cache_keep_jit(fixture->other, &code), 0);
	assert_true(shell(fixture, "test -n \"$(find own -name '*.names' -size +100c)\""));
	assert_true(shell(fixture, "diff -r own other"));
}

/* Where a function of this program is in its file. */
static u64 own_offset(const void *function)
{
	unsigned long long start, end, offset, address = (unsigned long long)(uintptr_t)function;
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	assert_non_null(maps);
	do
		assert_non_null(fgets(line, sizeof(line), maps));
	while (sscanf(line, "%llx-%llx %*s %llx", &start, &end, &offset) != 3 || address < start ||
	       address >= end);
	fclose(maps);
	return address - start + offset;
}

static int own_function(void)
{
	return 7;
}

enum { OWN_LINES = 4, OWN_LINE = __LINE__ - OWN_LINES - 1 };

static void assert_own_line(const struct kept_places *places, u64 key)
{
	const struct kept_place *place = kept_places_find(places, key);
	struct source_frame frame;

	assert_non_null(place);
	frame = kept_places_frame(places, place->first);
	assert_non_null(strstr(frame.file, "confined_names_test.c"));
	assert_in_range(frame.line, OWN_LINE, OWN_LINE + OWN_LINES - 1);
}

static void source_lines_are_kept(void **state)
{
	const struct fixture *fixture = *state;
	int (*volatile function)(void) = own_function;
	CLEANUP(kept_places_release) struct kept_places kept = {0};
	CLEANUP(freep) char *path = copy_program(fixture, "program");
	u64 key = kept_places_key(own_offset((const void *)(uintptr_t)function), false);
	const u64 keys[] = {kept_places_key(1, false), key};
	const struct code_places unknown = {keys, 1}, wanted = {keys, ARRAY_COUNT(keys)};
	struct build_id id;
	struct running_binary binary = binary_at(path, &id);

	assert_int_equal(names_cache_keep_places(fixture->own, &binary, &wanted), -ENOTSUP);
	/* That nothing is known of one says nothing of the others. */
	assert_int_equal(names_cache_keep_places(fixture->other, &binary, &unknown), 0);
	assert_int_equal(names_cache_keep_places(fixture->other, &binary, &wanted), 0);
	names_cache_places(fixture->other, &id, &kept);
	assert_int_equal(kept.places.count, 1); /* nothing is known of the other one */
	assert_own_line(&kept, key);
}

static void source_lines_come_from_the_debug_file(void **state)
{
	const struct fixture *fixture = *state;
	int (*volatile function)(void) = own_function;
	CLEANUP(kept_places_release) struct kept_places kept = {0};
	CLEANUP(freep) char *path = copy_program(fixture, "program");
	u64 key = kept_places_key(own_offset((const void *)(uintptr_t)function), false);
	const struct code_places wanted = {&key, 1};
	struct build_id id;
	struct running_binary binary;

	if (!shell(fixture, "objcopy --only-keep-debug program program.debug && "
			    "objcopy --strip-all --add-gnu-debuglink=program.debug program"))
		skip(); /* no binutils */
	binary = binary_at(path, &id);
	assert_int_equal(names_cache_keep_places(fixture->other, &binary, &wanted), 0);
	names_cache_places(fixture->other, &id, &kept);
	assert_own_line(&kept, key);
	assert_true(shell(fixture, "rm -r other/?? program.debug"));
	assert_int_equal(names_cache_keep_places(fixture->other, &binary, &wanted), -ENODATA);
	assert_true(shell(fixture, "rm program"));
	assert_int_equal(names_cache_keep_places(fixture->other, &binary, &wanted), -ENOENT);
}

static void another_file_is_not_taken(void **state)
{
	const struct fixture *fixture = *state;
	CLEANUP(freep) char *path = copy_program(fixture, "program");
	struct build_id id;
	struct running_binary binary = binary_at(path, &id);

	id.bytes[0] ^= 1;
	assert_int_equal(names_cache_keep(fixture->other, &binary), -ENOENT);
	assert_true(shell(fixture, "printf no-elf >program"));
	assert_int_equal(names_cache_keep(fixture->other, &binary), -ENOENT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_are_the_same, set_up, tear_down),
		cmocka_unit_test_setup_teardown(debug_files_are_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_that_is_open_needs_no_build_id, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(names_of_made_code_are_the_same, set_up, tear_down),
		cmocka_unit_test_setup_teardown(source_lines_are_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(source_lines_come_from_the_debug_file, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(another_file_is_not_taken, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
