/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes that no sample is of, nor of a process that they started: most of those on a machine
 * that compiles. Who only counts samples need not hear of them. Private to the folder.
 */
#ifndef PERFDATA_BYSTANDERS_H
#define PERFDATA_BYSTANDERS_H

#include "base/vec.h"
#include "perfdata/format.h"

#include <stdbool.h>

struct perfdata;

/* Two ids of a thread, and those that are needed if it is. */
struct kin {
	u32 pid, tid, parent_pid, parent_tid;
};

/* What decides over an event that may be left out, as long as its record is near. */
struct bystander_note {
	u64 file; /* of a mapping: a hash of what makes its file another one; 0: it stays */
	u32 pid, tid;
	u32 type; /* of its record; 0: it stays */
};

/* What `extra` of an event is until bystanders_drop(), with the number of its note. No key has that
 * bit. */
#define EXTRA_NOTE (1ull << 63)

struct bystanders {
	bool are_skipped; /* somebody asked for it, before the index was made */
	bool is_unclear;  /* some sample does not tell its process */
	u64 *needed;	  /* a bit an id */
	VEC(struct kin) kin;
	VEC(struct bystander_note) notes; /* in the order of the records */
	size_t skipped;			  /* events that were taken out of the index */
};

/* Notes who is sampled, who started whom, and what decides over each event. For each record, while
 * the index is made. Returns what `extra` of an event that is no sample becomes. */
u64 bystanders_note(struct perfdata *data, struct record_header header, const u8 *at);
/* Takes what nobody needs out of the index, which is in order of time. */
void bystanders_drop(struct perfdata *data);
/* Frees the memory. */
void bystanders_release(struct bystanders *bystanders);

#endif
