/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The moving line, on a terminal of 70 columns in place of stderr.
 */
#include "cli/progress.h"
#include "unit/unit.h"

#include <poll.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct screen {
	int master, real_stderr;
	char seen[4096];
	size_t length;
};

static struct screen screen;

static int open_screen(void **state)
{
	struct winsize size = {.ws_row = 24, .ws_col = 70};
	int slave;

	screen = (struct screen){.real_stderr = dup(STDERR_FILENO)};
	setenv("TERM", "xterm", 1);
	unsetenv("COLUMNS");
	if (openpty(&screen.master, &slave, NULL, NULL, &size))
		return -1;
	dup2(slave, STDERR_FILENO);
	close(slave);
	(void)state;
	return 0;
}

static int close_screen(void **state)
{
	progress_clear();
	dup2(screen.real_stderr, STDERR_FILENO);
	close(screen.real_stderr);
	close(screen.master);
	(void)state;
	return 0;
}

/* What has reached the terminal since it was opened. */
static const char *seen(void)
{
	struct pollfd ready = {.fd = screen.master, .events = POLLIN};

	while (poll(&ready, 1, 0) > 0 && screen.length + 1 < sizeof(screen.seen)) {
		ssize_t count = read(screen.master, screen.seen + screen.length,
				     sizeof(screen.seen) - 1 - screen.length);

		if (count <= 0)
			break;
		screen.length += (size_t)count;
	}
	return screen.seen;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Works until something is drawn, 10 s at the most. Returns how long that took, in seconds. */
static double work_until_drawn(u64 done, u64 total)
{
	double start = now();

	while (!*seen() && now() - start < 10)
		progress_show("reading perf.data", done, total);
	return now() - start;
}

static void short_work_shows_nothing_and_long_work_a_bar(void **state)
{
	assert_true(work_until_drawn(25, 100) >= 0.3);
	assert_non_null(strstr(seen(), "\rreading perf.data [######------------------]  25%"));
	assert_non_null(strstr(seen(), " left"));
	(void)state;
}

static void work_of_unknown_length_shows_a_count(void **state)
{
	work_until_drawn(12345, 0);
	assert_non_null(strstr(seen(), "\rreading perf.data 12 345"));
	(void)state;
}

static void a_status_line_is_shown_at_once_cut_to_the_width_and_printable(void **state)
{
	char line[200];
	size_t shown;

	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = 0;
	memcpy(line, "a\nb", 3);
	progress_line(line);
	shown = strcspn(seen() + 1, "\x1b");
	assert_int_equal(shown, 69);
	assert_memory_equal(seen(), "\ra\\x0ab", 7);
	(void)state;
}

static void clearing_wipes_the_line_once(void **state)
{
	size_t before;

	progress_line("7 samples");
	seen();
	before = screen.length;
	progress_clear();
	assert_string_equal(seen() + before, "\r\x1b[K");
	before = screen.length;
	progress_clear();
	assert_string_equal(seen() + before, "");
	(void)state;
}

static void a_dumb_terminal_and_a_pipe_see_nothing(void **state)
{
	int ends[2];
	char byte;

	setenv("TERM", "dumb", 1);
	progress_line("7 samples");
	assert_string_equal(seen(), "");
	setenv("TERM", "xterm", 1);
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	progress_line("7 samples");
	dup2(screen.real_stderr, STDERR_FILENO);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
	(void)state;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_screen, close_screen)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(short_work_shows_nothing_and_long_work_a_bar),
		TEST(work_of_unknown_length_shows_a_count),
		TEST(a_status_line_is_shown_at_once_cut_to_the_width_and_printable),
		TEST(clearing_wipes_the_line_once),
		TEST(a_dumb_terminal_and_a_pipe_see_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
