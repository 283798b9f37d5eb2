/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the reading of /proc/PID/maps.
 */
#include "host/proc_maps.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct bytes text = {bytes, length};
	struct mapping mapping;
	char path[MAPS_PATH_BYTES];
	int found;

	while ((found = proc_maps_next(&text, 1, path, &mapping))) {
		if (found == 1 &&
		    (!mapping.bytes || mapping.start + mapping.bytes < mapping.start ||
		     mapping.path != path || !path[0]))
			abort();
	}
	return 0;
}
