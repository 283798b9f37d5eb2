/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call chains out of what perf record --call-graph dwarf leaves to the reader: the user's registers
 * and a copy of the stack.
 */
#ifndef UNWIND_SAMPLE_UNWINDER_H
#define UNWIND_SAMPLE_UNWINDER_H

#include "event/event.h"

struct sample_unwinder;

struct sample_unwinder_settings {
	const char *symfs;     /* look for binaries below this folder only; NULL: none. Borrowed */
	const char *arch;      /* that was recorded, as uname(2) says it; NULL: ours */
	bool has_our_kernel;   /* that was recorded: its vDSO is ours */
	u64 recorded_until_ns; /* wall clock; 0: unknown */
	bool wants_files; /* as perf: no user frame where the innermost one's file is not there */
};

/*
 * A sink in front of `next` that hands on every event. A sample of a source with `has_copied_stack`
 * leaves it with its kernel frames and then the user frames, as `cut` and `walked` say. A caller's
 * address is that of its call's last byte, as in perf: one less than where the call returns to.
 *
 * sources, next  borrowed
 * Free with sample_unwinder_free().
 */
struct sample_unwinder *sample_unwinder_new(const struct sample_unwinder_settings *settings,
					    const struct event_source *sources,
					    struct event_sink *next);
/* Frees; NULL is fine. */
void sample_unwinder_free(struct sample_unwinder *unwinder);
/* For CLEANUP. */
void sample_unwinder_freep(struct sample_unwinder **unwinder);

/* The sink to feed; lives as long as the unwinder. */
struct event_sink *sample_unwinder_sink(struct sample_unwinder *unwinder);

#endif
