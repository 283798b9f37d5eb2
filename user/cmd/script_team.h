/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples printed by several threads, and written in order. Private to script*.c.
 */
#ifndef CMD_SCRIPT_TEAM_H
#define CMD_SCRIPT_TEAM_H

#include "cmd/script_print.h"
#include "event/event.h"

/* What all of them have in common. Borrowed. */
struct script_work {
	const struct script_layout *layout;
	struct perfdata *data;
	struct script_names *names;
	const struct filter_settings *chosen;
	FILE *out;
};

/*
 * Prints a recording whose lines script_lines_stand_alone(), as one printer would, in `width`
 * threads, the caller's among them. Only that one writes, so signals that come of it are his.
 *
 * Returns 0 or a negative errno with a sentence: as perfdata_read(), or that it cannot be written.
 * What was printed before something that is damaged has been written.
 */
int script_team_print(const struct script_work *work, u32 width);

#endif
