/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Width and colour.
 */
#include "cli/terminal.h"
#include "unit/unit.h"

#include <errno.h>
#include <pty.h>
#include <stdlib.h>
#include <unistd.h>

/* A terminal of 132 columns. */
struct screen {
	int master;
	FILE *out;
};

static int open_screen(void **state)
{
	static struct screen screen;
	struct winsize size = {.ws_row = 50, .ws_col = 132};
	int slave;

	if (openpty(&screen.master, &slave, NULL, NULL, &size))
		return -1;
	screen.out = fdopen(slave, "w");
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	unsetenv("COLUMNS");
	*state = &screen;
	return 0;
}

static int close_screen(void **state)
{
	struct screen *screen = *state;

	fclose(screen->out);
	close(screen->master);
	return 0;
}

static void the_width_is_the_terminals(void **state)
{
	struct screen *screen = *state;

	assert_int_equal(terminal_width(screen->out), 132);
}

static void columns_wins_over_the_terminal_if_it_makes_sense(void **state)
{
	struct screen *screen = *state;

	setenv("COLUMNS", "100", 1);
	assert_int_equal(terminal_width(screen->out), 100);
	setenv("COLUMNS", "0", 1);
	assert_int_equal(terminal_width(screen->out), 132);
	setenv("COLUMNS", "wide", 1);
	assert_int_equal(terminal_width(screen->out), 132);
}

static void a_file_has_eighty_columns_and_no_colour(void **state)
{
	FILE *file = tmpfile();

	assert_int_equal(terminal_width(file), 80);
	assert_false(terminal_wants_color(file, COLOR_AUTO));
	assert_true(terminal_wants_color(file, COLOR_ALWAYS));
	fclose(file);
	(void)state;
}

static void a_terminal_has_colour_unless_someone_says_no(void **state)
{
	struct screen *screen = *state;

	assert_true(terminal_wants_color(screen->out, COLOR_AUTO));
	assert_false(terminal_wants_color(screen->out, COLOR_NEVER));
	setenv("NO_COLOR", "", 1);
	assert_true(terminal_wants_color(screen->out, COLOR_AUTO));
	setenv("NO_COLOR", "1", 1);
	assert_false(terminal_wants_color(screen->out, COLOR_AUTO));
	unsetenv("NO_COLOR");
	setenv("TERM", "dumb", 1);
	assert_false(terminal_wants_color(screen->out, COLOR_AUTO));
}

static void colour_modes_have_names(void **state)
{
	enum color_mode mode = COLOR_AUTO;

	assert_int_equal(terminal_parse_color("never", &mode), 0);
	assert_int_equal(mode, COLOR_NEVER);
	assert_int_equal(terminal_parse_color("blue", &mode), -EINVAL);
	assert_int_equal(mode, COLOR_NEVER);
	(void)state;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_screen, close_screen)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(the_width_is_the_terminals),
		TEST(columns_wins_over_the_terminal_if_it_makes_sense),
		TEST(a_file_has_eighty_columns_and_no_colour),
		TEST(a_terminal_has_colour_unless_someone_says_no),
		TEST(colour_modes_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
