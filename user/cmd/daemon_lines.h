/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which source lines the daemon has looked up, so that it looks for each place of a binary once.
 * Private to this folder.
 */
#ifndef CMD_DAEMON_LINES_H
#define CMD_DAEMON_LINES_H

#include "base/idmap.h"
#include "base/intern.h"
#include "base/vec.h"
#include "cmd/wanted_names.h"
#include "continuous/continuous.h"

/* Of one build id. */
struct binary_lines {
	u64 rest_ns; /* none are looked for before that, CLOCK_MONOTONIC */
	bool is_waiting;
	u8 failures; /* times that the file was gone */
	u8 build_id_bytes;
	u32 pid;	 /* of who ran it last */
	char *path;	 /* owned */
	VEC(u64) places; /* that are to be looked for */
};

/* Zeroed it is a valid empty one, but for `again_ns`. */
struct daemon_lines {
	u64 again_ns; /* what was looked up is forgotten after so long */
	u64 since_ns;
	struct intern build_ids;
	VEC(struct binary_lines) binaries; /* by id - 1 */
	size_t waiting;
	struct idmap known; /* places of binaries */
};

/* Frees; harmless on a zeroed struct. */
void daemon_lines_release(struct daemon_lines *lines);
/* Notes those places of a binary that have not been looked up yet. now_ns: CLOCK_MONOTONIC */
void daemon_lines_add(struct daemon_lines *lines, const struct sampled_code *code, u64 now_ns);
/* Takes what has been noted of a binary (1 … binaries.count), if it may be looked for by now; it
 * waits then, until daemon_lines_note(). ret_wanted: the caller's. False: there is nothing. */
bool daemon_lines_take(struct daemon_lines *lines, u32 id, u64 now_ns, struct wanted *ret_wanted);

/* What came of it. */
struct lines_outcome {
	int error; /* 0 or a negative errno, as of names_cache_keep_places() */
	bool is_unwritten;
	u64 cost_ns; /* CPU time that it took */
};

/* Notes it. What was not written, or whose file was not there, is looked for again when it is
 * sampled again; and so that no binary takes more than a small part of a CPU, it rests for a
 * multiple of what it took. */
void daemon_lines_note(struct daemon_lines *lines, const struct wanted *wanted,
		       const struct lines_outcome *outcome);

#endif
