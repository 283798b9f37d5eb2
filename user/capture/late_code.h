/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a walk on our side asks of the code at an address: which file's it is, and that file's
 * table.
 */
#ifndef CAPTURE_LATE_CODE_H
#define CAPTURE_LATE_CODE_H

#include "capture/unwind_tables.h"
#include "event/event.h"
#include "unwind/unwind.h"

struct late_code;

/* Nothing is known. The tables (borrowed) are asked for what is missing. */
struct late_code *late_code_new(struct unwind_tables *tables);
/* Frees; NULL is fine. */
void late_code_free(struct late_code *code);

/* To be fed with everything about processes: what is mapped where. Lives as long as the code. */
struct event_sink *late_code_sink(struct late_code *code);

/* Forgets files that nobody has mapped any more, if there are many. No process may be held. */
void late_code_tend(struct late_code *code);

/* A process as it was at some time. Zeroed memory is one of which nothing is known. */
struct late_process {
	struct late_code *code;
	struct address_space *mappings; /* NULL: nothing is known */
};

/* The process as it is now. Give it back with late_process_release(). */
struct late_process late_process_of(struct late_code *code, u32 pid);
/* Nothing is known of it any more. */
void late_process_release(struct late_process *process);
/* For a walk up a stack of the process, which is borrowed. */
struct copied_walk_world late_process_world(struct late_process *process);

#endif
