/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is known of who is profiled, private to targets.c and targets_told.c.
 */
#ifndef CAPTURE_TARGETS_STATE_H
#define CAPTURE_TARGETS_STATE_H

#include "base/idmap.h"
#include "base/vec.h"
#include "capture/targets.h"

/* Keys of the map `known`: those of the programs, and this one for processes whose records are
 * wanted, be it for one of their threads. */
#define WANTED_PROCESS (2ULL << 32)

enum known_as { NAMED = 1, DESCENDANT };

/* A process whose first thread has ended: over, unless another thread has called exec() and takes
 * its place, or goes on without it. */
struct ended_process {
	u32 pid;
	u64 time_ns;
};

struct targets {
	struct passing_sink front; /* first */
	const struct capture_targets *settings;
	struct command *command;
	VEC(u64) keys; /* of who the programs were told and has not ended */
	VEC(u32) pids; /* of them */
	struct idmap known;
	u64 descendants; /* alive */
	VEC(struct ended_process) ended;
	struct target_follower follower;
	u64 settled_ns; /* children born later the programs have seen themselves */
};

/* Whether it is not all that runs. */
bool targets_are_limited(const struct targets *targets);

#endif
