/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is profiled: the processes and threads that were named, the command that is started, and what
 * descends from them.
 */
#ifndef CAPTURE_TARGETS_H
#define CAPTURE_TARGETS_H

#include "bpfprof/settings.h"
#include "capture/capture.h"
#include "event/event.h"

struct targets;

/* Looks at the processes and threads that were named, and starts the command, held before its exec.
 * `settings` is borrowed. Returns 0 or a negative errno with a sentence. */
int targets_open(const struct capture_targets *settings, struct targets **ret_targets);
/* Lets go of a command that was never started, and frees; NULL is fine. */
void targets_free(struct targets *targets);

/* Who is profiled, into the programs' settings. Returns 0 or a negative errno with a sentence. */
int targets_describe(const struct targets *targets, struct program_settings *settings);
/* The keys (see bpfprof/settings.h) of who was named. Borrowed. */
const u64 *targets_keys(const struct targets *targets, size_t *ret_count);
/* The processes whose names and mappings are needed, NULL: all. Borrowed. */
const u32 *targets_pids(const struct targets *targets, size_t *ret_count);

/* Whom the programs are told to profile, by key (see bpfprof/settings.h). */
struct target_follower {
	void (*follow)(void *context, u64 key);
	void *context;
};

/* Takes in the processes that descend already from those that were named, unless children are not
 * followed. To be called when the programs follow forks and the kernel tells of them: what is born
 * while we look is told to the follower when the kernel's word of it passes targets_sink(). Returns
 * 0 or a negative errno with a sentence. */
int targets_follow(struct targets *targets, const struct target_follower *follower);

/* Lets the command go and waits until it has become itself. Returns 0 or a negative errno with a
 * sentence: -ENOENT (not found), -EACCES and others (cannot be run). */
int targets_start_command(struct targets *targets);
/* The command's pid, 0 if there is none. */
pid_t targets_command(const struct targets *targets);

/* A sink in front of `next` that drops what the kernel tells about processes that are not profiled,
 * and follows forks and exits. Lives as long as the targets. */
struct event_sink *targets_sink(struct targets *targets, struct event_sink *next);

/* Calls `gone` for the key of each named process and thread that has ended since the last call.
 * Returns whether all that were named, and all that descend from them, have ended. */
bool targets_ended(struct targets *targets, void (*gone)(void *context, u64 key), void *context);

#endif
