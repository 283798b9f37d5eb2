/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a builder consists of. Private to the folder: to what counts, and to what puts parts
 * together that were counted apart.
 */
#ifndef PROFILE_BUILDER_STATE_H
#define PROFILE_BUILDER_STATE_H

#include "event/event.h"
#include "profile/block_counts.h"
#include "profile/builder.h"
#include "profile/chain_rows.h"
#include "profile/locator.h"
#include "profile/thread_lives.h"

enum { TELLERS = 256 }; /* power of two */

/* What samples of a thread have in common until its name or its mappings change. */
struct teller {
	u64 epoch;  /* of the builder; another one: nothing is known */
	u64 change; /* of its process, see below; the same */
	u64 moment; /* where times are told apart: how many quanta had gone by */
	u32 pid, tid, cpu;
	label_id labels;
	thread_id thread;
	struct mapping_states states;
};

/* A sample on its way into the tables. */
struct pending_sample {
	struct count_row count; /* as far as it is known */
	struct wanted_chain chain;
	struct virtual_place leaf;
	struct mapping_states states, key_states;
	u64 chain_key;	    /* 0: none */
	u32 again;	    /* row of counts, from 1, where one like it may have been counted */
	bool has_chain;	    /* the row of its chain is to be found */
	bool leaf_is_first; /* of the chain's frames that are to be found */
};

enum { MOST_PENDING = 32 };

struct profile_builder {
	struct passing_sink passing; /* first; on to the locator */
	struct builder_settings settings;
	struct process_watcher watcher; /* of the locator's processes */
	struct locator *locator;
	struct profile *profile;
	struct chain_rows *chains;
	struct block_counts blocks;
	struct teller tellers[TELLERS];
	u64 epoch; /* from 1; counts what may change all tellers */
	/* By the last bits of a pid: how often mappings of such a process have changed. */
	u64 changes[TELLERS];
	struct thread_lives threads;
	struct idmap names; /* address of an interned name → string_id */
	struct idmap ends;  /* (binary, cut) → row of profile->early_ends, from 1 */
	VEC(struct event_source) sources;
	struct pending_sample pending[MOST_PENDING]; /* in order, as they came */
	u32 pending_count;
};

/* What decides over the locations of a sample: nothing of the process if all is in the kernel. */
struct mapping_states builder_states_for(const struct sample *sample, const struct teller *teller);
/* Counts a sample, now or soon. */
void builder_count_sample(struct profile_builder *builder, const struct sample *sample,
			  const struct teller *teller);
/* Counts what is pending: before mappings change that it is looked up in, before anybody else makes
 * rows of the kinds that it makes, in the end. */
void builder_count_pending(struct profile_builder *builder);

#endif
