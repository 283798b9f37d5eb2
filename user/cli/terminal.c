/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the terminal can do: width, colour.
 */
#include "cli/terminal.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/number.h"
#include "cli/pager.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

enum { USUAL_WIDTH = 80, SMALLEST_WIDTH = 20, LARGEST_WIDTH = 10000 };

unsigned int terminal_width(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	u32 width;

	if (columns && !number_parse_u32(columns, &width) && width >= SMALLEST_WIDTH &&
	    width <= LARGEST_WIDTH)
		return width;
	if (!ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col >= SMALLEST_WIDTH)
		return size.ws_col;
	return USUAL_WIDTH;
}

bool terminal_is_dumb(void)
{
	const char *term = getenv("TERM");

	return !term || !*term || !strcmp(term, "dumb");
}

bool terminal_wants_color(FILE *out, enum color_mode mode)
{
	const char *no_color = getenv("NO_COLOR"); /* https://no-color.org */

	switch (mode) {
	case COLOR_ALWAYS:
		return true;
	case COLOR_NEVER:
		return false;
	case COLOR_AUTO:
		break;
	}
	if (terminal_is_dumb() || (no_color && *no_color))
		return false;
	return isatty(fileno(out)) || (out == stdout && pager_is_running());
}

int terminal_parse_color(const char *text, enum color_mode *ret_mode)
{
	static const char *const names[] = {
		[COLOR_AUTO] = "auto",
		[COLOR_ALWAYS] = "always",
		[COLOR_NEVER] = "never",
	};

	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		if (!strcmp(text, names[i])) {
			*ret_mode = (enum color_mode)i;
			return 0;
		}
	}
	return fail_plain(-EINVAL, "give auto, always or never", "not a colour mode");
}
