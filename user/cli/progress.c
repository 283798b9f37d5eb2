/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One moving line on stderr.
 */
#include "cli/progress.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/pager.h"
#include "cli/terminal.h"

#include <stdbool.h>
#include <string.h>

static const u64 patience_ns = 300000000; /* work that is done sooner shows nothing */
static const u64 redraw_ns = 100000000;
static const u64 clock_every_ns = 10000000;

enum { BAR_COLUMNS = 24, MOST_SKIPPED_CALLS = 1 << 12 };

/* What is on the one line of the one terminal. */
static struct {
	const char *what;
	u64 started_ns, drawn_ns, looked_ns;
	u32 skip, skipped; /* calls between two looks at the clock */
	bool is_drawn;
} line;

static bool can_draw(void)
{
	return isatty(STDERR_FILENO) && !terminal_is_dumb() && !pager_is_running();
}

/* Bytes of the front of `text` that fit into `columns`. */
static size_t fitting_bytes(const char *text, size_t columns)
{
	const unsigned char *next = (const unsigned char *)text;

	for (; *next && columns; columns--) {
		size_t bytes = utf8_bytes(next);

		next += bytes ? bytes : 1;
	}
	return (size_t)(next - (const unsigned char *)text);
}

static void draw(const char *text)
{
	size_t columns = terminal_width(stderr) - 1; /* the last column would wrap */

	fprintf(stderr, "\r%.*s\x1b[K", (int)fitting_bytes(text, columns), text);
	fflush(stderr);
	line.is_drawn = true;
}

/* Looks at the clock about every 10 ms, however often it is called. */
static bool is_time_to_look(u64 *ret_now_ns)
{
	u64 now;

	if (line.skipped < line.skip) {
		line.skipped++;
		return false;
	}
	now = clock_ns(CLOCK_MONOTONIC);
	if (now - line.looked_ns < clock_every_ns && line.skip < MOST_SKIPPED_CALLS)
		line.skip = line.skip * 2 + 1;
	else if (now - line.looked_ns > 2 * clock_every_ns)
		line.skip /= 2;
	line.skipped = 0;
	line.looked_ns = now;
	*ret_now_ns = now;
	return true;
}

static void append_bar(struct text *text, u64 done, u64 total, u64 spent_ns)
{
	double share = done < total ? (double)done / (double)total : 1;
	int filled = (int)(share * BAR_COLUMNS);
	char left[NUMBER_TEXT_BYTES];

	text_append(text, " [");
	for (int i = 0; i < BAR_COLUMNS; i++)
		text_append(text, i < filled ? "#" : "-");
	text_appendf(text, "] %3d%%", (int)(share * 100));
	/* Too early, the estimate would jump about. */
	if (share > 0.02 && share < 1)
		text_appendf(text, "  %s left",
			     number_format_duration((u64)((double)spent_ns * (1 - share) / share),
						    left));
}

void progress_show(const char *what, u64 done, u64 total)
{
	struct text text = {0};
	char count[NUMBER_TEXT_BYTES];
	u64 now;

	if (line.what != what) {
		line.what = what;
		line.started_ns = line.looked_ns = clock_ns(CLOCK_MONOTONIC);
		line.skip = line.skipped = 0;
	}
	if (!is_time_to_look(&now) || now - line.started_ns < patience_ns ||
	    now - line.drawn_ns < redraw_ns || !can_draw())
		return;
	line.drawn_ns = now;
	text_append_printable(&text, what);
	if (total)
		append_bar(&text, done, total, now - line.started_ns);
	else
		text_appendf(&text, " %s", number_format_count(done, count));
	draw(text_view(&text));
	text_release(&text);
}

void progress_line(const char *text)
{
	struct text printable = {0};

	if (!can_draw())
		return;
	text_append_printable(&printable, text);
	draw(text_view(&printable));
	text_release(&printable);
}

void progress_clear(void)
{
	if (line.is_drawn) {
		fputs("\r\x1b[K", stderr);
		fflush(stderr);
	}
	line.is_drawn = false;
	line.what = NULL;
}
