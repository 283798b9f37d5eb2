/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names that are kept: that they answer as the file did, whole or not at all, within their limit.
 */
#include "symbolize/finder.h"
#include "symbolize/names_cache_files.h"
#include "unit/unit.h"

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct fixture {
	char folder[64];
	struct build_id own; /* of this program */
	struct names_cache *cache;
};

static struct names_cache *opened(const char *folder, u64 max_bytes)
{
	struct names_cache_settings settings = {.directory = folder, .max_bytes = max_bytes};
	struct names_cache *cache = NULL;

	assert_int_equal(names_cache_open(&settings, &cache), 0);
	return cache;
}

static int set_up(void **state)
{
	struct fixture *fixture = must_alloc(sizeof(*fixture));
	CLEANUP(closep) int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	*state = fixture;
	strcpy(fixture->folder, "/tmp/names-cache-XXXXXX");
	if (!mkdtemp(fixture->folder) || build_id_of_fd(fd, &fixture->own))
		return -1;
	fixture->cache = opened(fixture->folder, 0);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(freep) char *command = must_format("rm -rf %s", fixture->folder);

	names_cache_close(fixture->cache);
	free(fixture);
	return system(command); /* NOLINT(cert-env33-c) */
}

static struct running_binary own_program(const struct fixture *fixture)
{
	static char path[4096];

	path[readlink("/proc/self/exe", path, sizeof(path) - 1)] = 0;
	return (struct running_binary){.path = path,
				       .build_id = fixture->own.bytes,
				       .build_id_bytes = fixture->own.length,
				       .owner_pid = ~0u};
}

static char *kept_path(const struct fixture *fixture, const struct build_id *id, const char *kind)
{
	char text[BUILD_ID_TEXT_BYTES];

	build_id_text(id, text);
	return must_format("%s/%.2s/%s.%s", fixture->folder, text, text + 2, kind);
}

static void assert_same_symbols(const struct symbols *kept, const struct symbols *read)
{
	assert_int_equal(symbols_count(kept), symbols_count(read));
	for (size_t i = 0; i < symbols_count(read); i++) {
		const struct symbol *a = symbols_at(kept, i), *b = symbols_at(read, i);

		assert_true(a->start == b->start && a->end == b->end);
		assert_string_equal(a->name, b->name);
		assert_string_equal(symbols_find(kept, b->end - 1)->name,
				    symbols_find(read, b->end - 1)->name);
	}
}

static void what_is_kept_answers_as_the_file_does(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(kept_names_release) struct kept_names kept = {0}, read = {0};
	struct running_binary program = own_program(fixture);

	assert_int_equal(names_cache_keep(fixture->cache, &program), 0);

	assert_int_equal(names_cache_find(fixture->cache, &fixture->own, &kept), 0);
	assert_int_equal(binary_finder_read(&program, &read), 0);
	assert_true(symbols_count(read.symbols) > 100 && read.functions.items.count > 100);
	assert_same_symbols(kept.symbols, read.symbols);
	assert_int_equal(kept.functions.items.count, read.functions.items.count);
	assert_memory_equal(kept.functions.items.items, read.functions.items.items,
			    read.functions.items.count * sizeof(*read.functions.items.items));
	assert_string_equal(names_cache_warnings(fixture->cache), "");
}

static void a_file_with_another_build_id_is_not_kept(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(kept_names_release) struct kept_names kept = {0};
	struct running_binary program = own_program(fixture);
	struct build_id other = fixture->own;

	other.bytes[0] ^= 1;
	program.build_id = other.bytes;
	assert_int_equal(names_cache_keep(fixture->cache, &program), -ENOENT);
	assert_int_equal(names_cache_find(fixture->cache, &other, &kept), -ENOENT);

	program.build_id_bytes = 0;
	assert_int_equal(names_cache_keep(fixture->cache, &program), -ENODATA);
}

static void names_of_another_build_id_under_this_one_are_none(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(kept_names_release) struct kept_names kept = {0};
	struct running_binary program = own_program(fixture);
	struct build_id other = fixture->own;
	CLEANUP(freep) char *from = kept_path(fixture, &fixture->own, "names"), *to = NULL;

	other.bytes[other.length - 1] ^= 1;
	to = kept_path(fixture, &other, "names");
	assert_int_equal(names_cache_keep(fixture->cache, &program), 0);
	assert_int_equal(rename(from, to), 0);

	assert_int_equal(names_cache_find(fixture->cache, &other, &kept), -ENOENT);
	assert_non_null(strstr(names_cache_warnings(fixture->cache), "damaged"));
}

/* A table of two functions. */
static struct kept_names small_names(u8 id)
{
	struct kept_names names = {.id = {{id, 2, 3, 4}, 4}, .symbols = symbols_new()};

	symbols_add(names.symbols, &(struct symbol){.start = 16, .end = 32, .name = "first"});
	symbols_add(names.symbols, &(struct symbol){.start = 64, .end = 80, .name = "second"});
	symbols_finish(names.symbols);
	*vec_add(&names.functions.items) = (struct function_place){16, 90, 4112};
	return names;
}

static void write_bytes(const char *path, const void *bytes, size_t length)
{
	CLEANUP(closep) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(file_write_all(fd, bytes, length), 0);
}

/* Writes the file with this content, and expects that it is not believed, and goes. */
static void assert_refused(const struct fixture *fixture, const char *path, const char *bytes,
			   size_t length)
{
	struct names_cache *cache = opened(fixture->folder, 0);
	struct kept_names names = small_names(1), kept = {0};

	write_bytes(path, bytes, length);
	assert_int_equal(names_cache_find(cache, &names.id, &kept), -ENOENT);
	assert_non_null(strstr(names_cache_warnings(cache), "damaged"));
	assert_int_equal(access(path, F_OK), -1);
	names_cache_close(cache);
	kept_names_release(&names);
}

static void damaged_files_are_refused_wherever_the_damage_is(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(kept_names_release) struct kept_names names = small_names(1);
	CLEANUP(freep) char *path = kept_path(fixture, &names.id, "names"), *bytes = NULL;
	const size_t version_at = 8, version_bytes = 4;
	size_t length;

	assert_int_equal(names_cache_add(fixture->cache, &names), 0);
	assert_int_equal(file_read(path, 1 << 20, &bytes, &length), 0);
	for (size_t i = 0; i < length; i++) {
		assert_refused(fixture, path, bytes, i);
		if (i - version_at < version_bytes)
			continue;
		bytes[i] ^= 0x10;
		assert_refused(fixture, path, bytes, length);
		bytes[i] ^= 0x10;
	}
}

static void a_damaged_file_is_made_again(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(kept_names_release) struct kept_names kept = {0};
	struct running_binary program = own_program(fixture);
	CLEANUP(freep) char *path = kept_path(fixture, &fixture->own, "names");

	assert_int_equal(names_cache_keep(fixture->cache, &program), 0);
	assert_int_equal(truncate(path, 1000), 0);
	names_cache_close(fixture->cache);
	fixture->cache = opened(fixture->folder, 0);

	assert_int_equal(names_cache_keep(fixture->cache, &program), 0);
	assert_int_equal(names_cache_find(fixture->cache, &fixture->own, &kept), 0);
}

static void of_another_version_nothing_is_said(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(kept_names_release) struct kept_names names = small_names(1), kept = {0};
	CLEANUP(freep) char *path = kept_path(fixture, &names.id, "names"), *bytes = NULL;
	size_t length;

	assert_int_equal(names_cache_add(fixture->cache, &names), 0);
	assert_int_equal(file_read(path, 1 << 20, &bytes, &length), 0);
	bytes[8] ^= 0x7f; /* the version */
	write_bytes(path, bytes, length);
	assert_int_equal(names_cache_find(fixture->cache, &names.id, &kept), -ENOENT);
	assert_string_equal(names_cache_warnings(fixture->cache), "");
}

static void no_link_and_no_fifo_is_followed(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(kept_names_release) struct kept_names names = small_names(1), kept = {0};
	CLEANUP(freep) char *path = kept_path(fixture, &names.id, "names");
	CLEANUP(freep) char *moved = must_format("%s/moved", fixture->folder);

	assert_int_equal(names_cache_add(fixture->cache, &names), 0);
	assert_int_equal(rename(path, moved), 0);
	assert_int_equal(symlink(moved, path), 0);
	assert_int_equal(names_cache_find(fixture->cache, &names.id, &kept), -ENOENT);

	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(names_cache_find(fixture->cache, &names.id, &kept), -ENOENT);
}

static bool is_kept(const struct fixture *fixture, u8 id)
{
	CLEANUP(kept_names_release) struct kept_names names = small_names(id);
	CLEANUP(freep) char *path = kept_path(fixture, &names.id, "names");

	return access(path, F_OK) == 0;
}

static void keep_small(struct names_cache *cache, const struct fixture *fixture, u8 id, time_t used)
{
	CLEANUP(kept_names_release) struct kept_names names = small_names(id);
	CLEANUP(freep) char *path = kept_path(fixture, &names.id, "names");
	struct timespec times[2] = {{.tv_sec = used}, {.tv_sec = used}};

	assert_int_equal(names_cache_add(cache, &names), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void what_was_used_longest_ago_goes_first(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(kept_names_release) struct kept_names names = small_names(2), kept = {0};
	CLEANUP(freep) char *path = kept_path(fixture, &names.id, "names");
	struct stat one;

	keep_small(fixture->cache, fixture, 2, 1000);
	keep_small(fixture->cache, fixture, 3, 2000);
	keep_small(fixture->cache, fixture, 4, 3000);
	assert_int_equal(stat(path, &one), 0);
	/* The oldest is used, and so the youngest. */
	assert_int_equal(names_cache_find(fixture->cache, &names.id, &kept), 0);
	names_cache_trim(open(fixture->folder, O_RDONLY | O_CLOEXEC), 2 * (u64)one.st_blocks * 512);

	assert_true(is_kept(fixture, 2));
	assert_false(is_kept(fixture, 3));
	assert_true(is_kept(fixture, 4));
}

static void writing_holds_the_limit(void **state)
{
	struct fixture *fixture = *state;
	struct names_cache *cache = opened(fixture->folder, 10 * 4096);
	int kept = 0;

	for (u8 id = 1; id <= 100; id++)
		keep_small(cache, fixture, id, id);
	names_cache_close(cache);
	for (u8 id = 1; id <= 100; id++)
		kept += is_kept(fixture, id);
	assert_in_range(kept, 1, 20);
	assert_true(is_kept(fixture, 100));
}

static void places_are_joined_with_those_of_others(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(kept_places_release) struct kept_places first = {.id = {{1, 2, 3, 4}, 4}};
	CLEANUP(kept_places_release) struct kept_places second = {.id = first.id};
	CLEANUP(kept_places_release) struct kept_places all = {0};
	struct source_frame frames[] = {{.function = "inlined", .file = "a.h", .line = 3},
					{.file = "a.c", .line = 70000}};
	const struct kept_place *place;

	kept_places_add(&first, kept_places_key(16, true), frames, 2);
	kept_places_add(&second, kept_places_key(16, false), frames, 0);
	names_cache_add_places(fixture->cache, &first);
	names_cache_add_places(fixture->cache, &second);

	names_cache_places(fixture->cache, &first.id, &all);
	assert_int_equal(all.places.count, 2);
	assert_int_equal(kept_places_find(&all, kept_places_key(16, false))->count, 0);
	assert_null(kept_places_find(&all, kept_places_key(17, false)));
	place = kept_places_find(&all, kept_places_key(16, true));
	assert_int_equal(place->count, 2);
	assert_string_equal(kept_places_frame(&all, place->first).function, "inlined");
	assert_null(kept_places_frame(&all, place->first + 1).function);
	assert_int_equal(kept_places_frame(&all, place->first + 1).line, 70000);
}

/* Four processes that keep what is theirs and what is all's, over and over. */
static void writers_at_once_lose_nothing(void **state)
{
	enum { WRITERS = 4, ROUNDS = 20 };
	struct fixture *fixture = *state;
	CLEANUP(kept_places_release) struct kept_places all = {0};
	struct build_id id = {{9, 2, 3, 4}, 4};
	int status;

	for (int writer = 0; writer < WRITERS; writer++) {
		if (fork())
			continue;
		for (u64 round = 0; round < ROUNDS; round++) {
			struct kept_places places = {.id = id};

			kept_places_add(&places, round * WRITERS + (u64)writer, NULL, 0);
			names_cache_add_places(fixture->cache, &places);
			kept_places_release(&places);
		}
		_exit(*names_cache_warnings(fixture->cache) != 0);
	}
	for (int writer = 0; writer < WRITERS; writer++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	names_cache_places(fixture->cache, &id, &all);
	assert_int_equal(all.places.count, WRITERS * ROUNDS);
}

static void a_folder_of_another_user_is_left_alone(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(freep) char *below = must_format("%s/home/.cache/names", fixture->folder);
	CLEANUP(freep) char *home = must_format("%s/home", fixture->folder);
	struct names_cache_settings settings = {.directory = below};
	struct names_cache *cache = NULL;
	struct stat status;

	if (geteuid())
		skip();
	assert_int_equal(mkdir(home, 0700), 0);
	assert_int_equal(chown(home, 12345, 12345), 0);
	assert_int_equal(names_cache_open(&settings, &cache), -EPERM);
	assert_non_null(strstr(fail_sentence(), "another user"));
	assert_int_equal(stat(below, &status), -1);
	settings.directory = home;
	settings.is_read_only = true;
	assert_int_equal(names_cache_open(&settings, &cache), -EPERM);
}

static void the_kernel_that_runs_is_kept_with_its_modules(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(kept_names_release) struct kept_names kept = {0};
	struct build_id id;
	int error = build_id_of_kernel(&id);

	error = error ? error : names_cache_keep_kernel(fixture->cache);
	if (error)
		skip(); /* kallsyms shows no addresses */
	assert_int_equal(names_cache_find(fixture->cache, &id, &kept), 0);
	assert_true(kept.reference != 0);
	assert_non_null(symbols_find(kept.symbols, kept.reference));
}

/* The reader beside us takes its time over a large file, and then throws it away. */
static void who_keeps_names_waits_for_who_reads_them(void **state)
{
	struct fixture *fixture = *state;
	struct symbolize_settings settings = {.caches = {fixture->cache}};
	struct symbolizer *symbolizer = symbolizer_new(&settings);
	CLEANUP(freep) char *path = NULL;
	struct build_id id;
	char *name;

	if (build_id_of_kernel(&id)) {
		symbolizer_free(symbolizer);
		skip();
	}
	path = kept_path(fixture, &id, "names");
	name = strrchr(path, '/');
	*name = 0;
	assert_int_equal(mkdir(path, 0700), 0);
	*name = '/';
	write_bytes(path, "", 0);
	assert_int_equal(truncate(path, 64 << 20), 0);
	symbolizer_expect_kernel(symbolizer);
	symbolizer_keep(symbolizer);
	assert_int_equal(access(path, F_OK), -1);
	assert_non_null(strstr(names_cache_warnings(fixture->cache), "damaged"));
	symbolizer_free(symbolizer);
}

/* Callers are bytes to it. */
static void assert_callers(struct names_cache *cache, const struct build_id *id, const char *text)
{
	struct bytes block = {0};

	assert_int_equal(names_cache_find_callers(cache, id, &block), text ? 0 : -ENOENT);
	assert_int_equal(block.length, text ? strlen(text) : 0);
	if (text)
		assert_memory_equal(block.start, text, block.length);
	free((void *)(uintptr_t)block.start);
}

static void callers_come_back_whole_or_not_at_all(void **state)
{
	struct fixture *fixture = *state;
	const struct build_id first = {{1, 2, 3, 4}, 4}, second = {{1, 2, 3, 5}, 4}, none = {0};
	const struct bytes old = {(const u8 *)"older", 5}, new = {(const u8 *)"new", 3};
	CLEANUP(freep) char *path = kept_path(fixture, &first, "callers"), *bytes = NULL;
	size_t length;

	assert_callers(NULL, &first, NULL);
	assert_callers(fixture->cache, &first, NULL);
	assert_int_equal(names_cache_add_callers(fixture->cache, &first, 1, old), 0);
	assert_int_equal(names_cache_add_callers(fixture->cache, &first, 1, new), 0);
	assert_int_equal(names_cache_add_callers(fixture->cache, &none, 1, new), -ENODATA);
	assert_callers(fixture->cache, &first, "new");
	assert_callers(fixture->cache, &second, NULL);
	assert_string_equal(names_cache_warnings(fixture->cache), "");
	assert_int_equal(file_read(path, 1 << 20, &bytes, &length), 0);
	for (size_t i = 0; i < length; i++) {
		write_bytes(path, bytes, i);
		assert_callers(fixture->cache, &first, NULL);
		bytes[i] ^= 0x10;
		write_bytes(path, bytes, length);
		assert_callers(fixture->cache, &first, NULL);
		bytes[i] ^= 0x10;
	}
	assert_non_null(strstr(names_cache_warnings(fixture->cache), "damaged"));
}

static void names_are_no_callers(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(kept_names_release) struct kept_names names = small_names(1);
	CLEANUP(freep) char *from = kept_path(fixture, &names.id, "names");
	CLEANUP(freep) char *to = kept_path(fixture, &names.id, "callers");

	assert_int_equal(names_cache_add(fixture->cache, &names), 0);
	assert_int_equal(rename(from, to), 0);
	assert_callers(fixture->cache, &names.id, NULL);
	assert_int_equal(access(to, F_OK), -1);
}

int main(void)
{
#define KEPT(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		KEPT(what_is_kept_answers_as_the_file_does),
		KEPT(a_file_with_another_build_id_is_not_kept),
		KEPT(names_of_another_build_id_under_this_one_are_none),
		KEPT(damaged_files_are_refused_wherever_the_damage_is),
		KEPT(a_damaged_file_is_made_again),
		KEPT(of_another_version_nothing_is_said),
		KEPT(callers_come_back_whole_or_not_at_all),
		KEPT(names_are_no_callers),
		KEPT(no_link_and_no_fifo_is_followed),
		KEPT(what_was_used_longest_ago_goes_first),
		KEPT(writing_holds_the_limit),
		KEPT(places_are_joined_with_those_of_others),
		KEPT(writers_at_once_lose_nothing),
		KEPT(a_folder_of_another_user_is_left_alone),
		KEPT(the_kernel_that_runs_is_kept_with_its_modules),
		KEPT(who_keeps_names_waits_for_who_reads_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
