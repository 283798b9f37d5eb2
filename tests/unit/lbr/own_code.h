/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The test's own code as that of a process that was recorded, for tests that make samples of it.
 */
#ifndef UNIT_LBR_OWN_CODE_H
#define UNIT_LBR_OWN_CODE_H

#include "base/file.h"
#include "base/memory.h"
#include "host/host.h"
#include "unit/unit.h"

/* Tells `sink` of all that this process has mapped, as mappings of process `pid`, `shift` bytes
 * further up. */
static inline void map_own_code_at(struct event_sink *sink, u32 pid, u64 shift)
{
	enum { MAPS_MAX_BYTES = 1 << 20 };
	CLEANUP(freep) char *maps = NULL;
	char path[MAPS_PATH_BYTES];
	struct bytes text;
	struct mapping mapping;

	assert_int_equal(file_read("/proc/self/maps", MAPS_MAX_BYTES, &maps, &text.length), 0);
	text.start = (const u8 *)maps;
	while (proc_maps_next(&text, pid, path, &mapping) == 1) {
		mapping.start += shift;
		assert_int_equal(sink_call(sink, on_mapping, &mapping), 0);
	}
}

/* The same where they are. */
static inline void map_own_code(struct event_sink *sink, u32 pid)
{
	map_own_code_at(sink, pid, 0);
}

#endif
