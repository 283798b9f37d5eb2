/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The text of /proc/PID/maps as mappings. Pure.
 */
#ifndef HOST_PROC_MAPS_H
#define HOST_PROC_MAPS_H

#include "base/cursor.h"
#include "event/event.h"

enum { MAPS_PATH_BYTES = 4096 }; /* PATH_MAX; what is longer is cut */

/*
 * Steps over the lines of `text` up to and with the next executable one.
 *
 * ret_mapping  its path points into `path`, octal escapes (\012) undone, " (deleted)" kept;
 *              anonymous memory is "//anon"; pid and tid as given
 * Returns 1, 0 at the end, -EBADMSG for a line that is not one (it has been stepped over).
 */
int proc_maps_next(struct bytes *text, u32 pid, char path[static MAPS_PATH_BYTES],
		   struct mapping *ret_mapping);

#endif
