/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A store whose writer is killed, whose files are cut, or that finds no room, loses the window that
 * was open and nothing else. */
#include "base/fail.h"
#include "unit/continuous/windows.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* The same cases in every run. */
static u32 next_random(u32 *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 8;
}

/* --- windows that are there --- */

struct found {
	u32 windows, cut;
	bool reads; /* each file, too */
};

static int see_sample(struct event_sink *sink, const struct sample *sample)
{
	(void)sink;
	(void)sample;
	return 0;
}

static int see_window(void *context, const struct store_window *window, const char *path)
{
	struct found *found = context;
	struct event_sink sink = {.on_sample = see_sample};
	struct perfdata *data;

	found->windows++;
	if (window->flags & STORE_CUT) {
		found->cut++;
		return 0;
	}
	assert_int_equal(window->samples, WINDOW_SAMPLES);
	if (!found->reads)
		return 0;
	assert_int_equal(perfdata_open(path, &data), 0);
	assert_int_equal(perfdata_read(data, &sink), 0);
	perfdata_close(data);
	return 0;
}

/* Opens as the next writer does, and looks. */
static struct found look(const char *folder, bool reads)
{
	struct store *store = store_opened(folder, STORE_WRITE);
	struct found found = {.reads = reads};

	assert_int_equal(store_each(store, 0, UINT64_MAX, see_window, &found), 0);
	assert_int_equal(found.windows, store_count(store));
	store_close(store);
	return found;
}

/* --- SIGKILL --- */

/* Writes windows until it is killed, and says when one is begun, written and committed. */
static void write_windows(const char *folder, u64 first_ns, int fd)
{
	struct store_window window = {.samples = WINDOW_SAMPLES};
	struct store *store;
	const char *path;

	if (store_open(folder, STORE_WRITE, &store))
		_exit(1);
	for (window.start_ns = first_ns;; window.start_ns += MINUTE_NS) {
		window.end_ns = window.start_ns + MINUTE_NS;
		if (store_begin(store, window.start_ns, &path) || write(fd, "b", 1) != 1 ||
		    window_write(path) || write(fd, "w", 1) != 1 || store_commit(store, &window) ||
		    write(fd, "c", 1) != 1)
			_exit(1);
	}
}

/* Kills a writer when it has said so many things, and some turns later. Returns how many windows it
 * had committed for sure. */
static u32 kill_writer(const char *folder, u64 first_ns, u32 words, u32 turns)
{
	int ends[2], status;
	u32 committed = 0;
	char word;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child)
		write_windows(folder, first_ns, ends[1]);
	close(ends[1]);
	while (words-- && read(ends[0], &word, 1) == 1)
		committed += word == 'c';
	for (volatile u32 turn = 0; turn < turns; turn++)
		;
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status)); /* it did not fail */
	while (read(ends[0], &word, 1) == 1)
		committed += word == 'c';
	close(ends[0]);
	return committed;
}

static void a_killed_writer_loses_the_open_window_at_most(void **state)
{
	enum { ROUNDS_OF_KILLING = 100 };
	char *folder = store_folder();
	u32 seed = 1, before = 0, committed, turns;
	struct found found;

	for (u32 round = 0; round < ROUNDS_OF_KILLING; round++) {
		committed = next_random(&seed) % 6;
		turns = next_random(&seed) % 300000;
		committed = kill_writer(folder, FIRST_NS + before * MINUTE_NS, committed, turns);
		found = look(folder, false);
		assert_in_range(found.windows, before + committed, before + committed + 1);
		before = found.windows;
	}
	assert_true(before > 0);
	look(folder, true);
	store_folder_remove(folder);
	(void)state;
}

/* --- cut files --- */

static u64 bytes_of(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return (u64)status.st_size;
}

static void a_cut_index_costs_no_window(void **state)
{
	enum { WINDOWS = 4, CUTS = 100 };
	char *folder = store_folder();
	CLEANUP(freep) char *index = must_format("%s/windows/index", folder);
	u32 seed = 2;

	windows_put(folder, WINDOWS);
	for (u32 i = 0; i < CUTS; i++) {
		assert_int_equal(truncate(index, next_random(&seed) % bytes_of(index)), 0);
		assert_int_equal(look(folder, i == CUTS - 1).windows, WINDOWS);
		assert_int_equal(bytes_of(index), WINDOWS * 320);
	}
	store_folder_remove(folder);
	(void)state;
}

/* With and without its row in the index. */
static void a_cut_window_costs_no_other(void **state)
{
	enum { WINDOWS = 3, CUTS = 100 };
	char *folder = store_folder();
	CLEANUP(freep) char *index = must_format("%s/windows/index", folder);
	CLEANUP(freep) char *path = must_format("%s/windows/20261121/140100.data", folder);
	CLEANUP(freep) char *kept = must_format("%s/kept", folder);
	CLEANUP(freep) char *restore = must_format("cp '%s' '%s'", kept, path);
	CLEANUP(freep) char *keep = must_format("cp '%s' '%s'", path, kept);
	u32 seed = 3;

	windows_put(folder, WINDOWS);
	assert_int_equal(system(keep), 0);
	for (u32 i = 0; i < CUTS; i++) {
		struct found found;

		assert_int_equal(system(restore), 0);
		assert_int_equal(truncate(path, next_random(&seed) % bytes_of(kept)), 0);
		assert_int_equal(unlink(index), 0);
		found = look(folder, true);
		assert_int_equal(found.windows, WINDOWS);
		assert_in_range(found.cut, 0, 1); /* the others were read as a whole */
	}
	store_folder_remove(folder);
	(void)state;
}

/* --- no room --- */

/* A file system of its own, so many bytes large; false: not allowed here. */
static bool mount_small(const char *folder, u32 bytes)
{
	CLEANUP(freep) char *options = must_format("size=%u", bytes);

	return !unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("none", folder, "tmpfs", 0, options);
}

/* Takes all room but so many bytes. */
static void fill(const char *path, u32 left_bytes)
{
	static const char zeros[4096];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	while (write(fd, zeros, sizeof(zeros)) == sizeof(zeros))
		;
	assert_int_equal(ftruncate(fd, (off_t)bytes_of(path) - left_bytes), 0);
	close(fd);
}

/* In a process of its own, for its mounts. Returns its exit status. */
static int fill_and_write(const char *folder)
{
	enum { PAGE = 4096, MOST_LEFT = 12 };
	CLEANUP(freep) char *filler = must_format("%s/filler", folder);
	CLEANUP(freep) char *inner = must_format("%s/store", folder);
	struct store *store;
	u32 there = 3, failed = 0;

	if (!mount_small(folder, 512 * 1024))
		return 77;
	windows_put(inner, there);
	for (u32 left = 0; left < MOST_LEFT; left++) {
		u32 lost = 0;

		store = store_opened(inner, STORE_WRITE);
		fill(filler, left * PAGE);
		/* the second day's folder has to be made, too */
		for (u32 i = 0; i < 4; i++) {
			int error = window_put(store, FIRST_NS + (left + 1) * 1440 * MINUTE_NS +
							      i * MINUTE_NS);

			assert_true(!error || error == -ENOSPC);
			lost += error != 0;
			there += !error;
		}
		assert_int_equal(store_lost_windows(store), lost);
		failed += lost;
		assert_int_equal(unlink(filler), 0);
		/* there is room again: it goes on, and says what was lost */
		assert_int_equal(window_put(store, FIRST_NS + (left + 1) * 1440 * MINUTE_NS +
							   10 * MINUTE_NS),
				 0);
		there++;
		store_close(store);
		assert_int_equal(look(inner, true).windows, there);
		assert_int_equal(look(inner, false).cut, 0);
	}
	return failed ? 0 : 1;
}

/* The same: opens a store whose index has lost a row, and half of another one, on a full disk. */
static int fill_and_open(const char *folder)
{
	CLEANUP(freep) char *filler = must_format("%s/filler", folder);
	CLEANUP(freep) char *inner = must_format("%s/store", folder);
	CLEANUP(freep) char *index = must_format("%s/windows/index", inner);
	CLEANUP(freep) char *made = must_format("%s.new", index);
	struct found found = {.reads = true};
	struct store *store;

	if (!mount_small(folder, 512 * 1024))
		return 77;
	windows_put(inner, 4);
	assert_int_equal(truncate(index, 2 * 320 + 100), 0);
	fill(filler, 0);
	store = store_opened(inner, STORE_WRITE);
	assert_non_null(strstr(store_notes(store), "index.new: No space left on device"));
	assert_int_equal(store_each(store, 0, UINT64_MAX, see_window, &found), 0);
	assert_int_equal(found.windows, 4);
	assert_int_equal(bytes_of(index), 2 * 320);
	assert_int_equal(window_put(store, FIRST_NS + 10 * MINUTE_NS), -ENOSPC);
	/* room for a window and its row, and the index cannot be made anew yet */
	assert_int_equal(unlink(filler), 0);
	assert_int_equal(mkdir(made, 0700), 0);
	assert_int_equal(window_put(store, FIRST_NS + 11 * MINUTE_NS), 0);
	assert_int_equal(bytes_of(index), 3 * 320);
	assert_int_equal(store_each(store, 0, UINT64_MAX, see_window, &found), 0);
	assert_int_equal(found.windows, 4 + 5);
	assert_int_equal(rmdir(made), 0);
	assert_int_equal(window_put(store, FIRST_NS + 12 * MINUTE_NS), 0);
	assert_int_equal(bytes_of(index), 6 * 320);
	store_close(store);
	store = store_opened(inner, STORE_READ);
	assert_string_equal(store_notes(store), "");
	assert_int_equal(store_count(store), 6);
	store_close(store);
	return 0;
}

/* Runs one of these in a process of its own. */
static void expect_success(int (*run)(const char *folder))
{
	char *folder = store_folder();
	int status;
	pid_t child = fork();

	if (!child)
		_exit(run(folder));
	assert_int_equal(waitpid(child, &status, 0), child);
	store_folder_remove(folder);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip(); /* mounting is not allowed */
	assert_int_equal(status, 0);
}

static void a_full_disk_costs_the_windows_that_find_no_room(void **state)
{
	expect_success(fill_and_write);
	(void)state;
}

static void a_full_disk_does_not_keep_an_index_in_need_of_repair_from_use(void **state)
{
	expect_success(fill_and_open);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_killed_writer_loses_the_open_window_at_most),
		cmocka_unit_test(a_cut_index_costs_no_window),
		cmocka_unit_test(a_cut_window_costs_no_other),
		cmocka_unit_test(a_full_disk_costs_the_windows_that_find_no_room),
		cmocka_unit_test(a_full_disk_does_not_keep_an_index_in_need_of_repair_from_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
