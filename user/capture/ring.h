/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The BPF ring buffer as a producer of samples.
 */
#ifndef CAPTURE_RING_H
#define CAPTURE_RING_H

#include "bpfprof/event.h"
#include "event/event.h"

#include <stdbool.h>

struct ring;

/* Maps the ring behind this descriptor (borrowed). `has_chain`: stacks are asked for. Returns 0 or
 * a negative errno with a sentence. */
int ring_open(int map_fd, bool has_chain, struct ring **ret_ring);
/* Unmaps and frees; NULL is fine. */
void ring_close(struct ring *ring);

/* Hands what the programs ask for (see bpfprof/event.h) to `take` from now on. */
void ring_take_wanted(struct ring *ring, void (*take)(void *, const struct file_wanted *),
		      void *context);
/* Hands what is left of stacks to `take` from now on, before their samples. It comes through a ring
 * of its own, behind `map_fd` (borrowed), which is mapped from when something comes until nothing
 * has come for a minute or so. */
void ring_take_rests(struct ring *ring, int map_fd, void (*take)(void *, const struct stack_rest *),
		     void *context);
/* Hands the samples that a RECORD_CHAIN brings to `take` from now on, and whether they belong to
 * the second window. */
void ring_take_chains(struct ring *ring,
		      void (*take)(void *, u32 window, const struct sample_header *header,
				   const u64 *frames),
		      void *context);
/* Hands proofs (see capture_settings) to `take` from now on; NULL: to nobody. */
void ring_take_proofs(struct ring *ring, void (*take)(void *, const struct proof_record *),
		      void *context);

/* Readable when half of the ring is in use. Borrowed. */
int ring_fd(const struct ring *ring);
/* Hands all samples that have arrived to `sink`, and of those that come meanwhile not more than the
 * ring holds. Returns 0 or what the sink returned. */
int ring_drain(struct ring *ring, struct event_sink *sink);
/* How many records were not understood. */
u64 ring_malformed(const struct ring *ring);

/* What a decoded sample borrows. */
struct sample_space {
	struct frame frames[2 * STACK_MAX_FRAMES];
	struct branch branches[BRANCH_STACK_MAX];
};

/* Whether a record is a proof that is as long as it says. Pure. */
bool ring_is_proof(const void *record, size_t bytes);

/* Whether a record is the rest of a stack that is as long as it says. Pure. */
bool ring_is_rest(const void *record, size_t bytes);

/*
 * One record as a sample. Pure.
 *
 * space  what the sample borrows
 * Returns 0, or -EBADMSG if it is not a record.
 */
int ring_decode(const void *record, size_t bytes, bool has_chain, struct sample_space *space,
		struct sample *ret_sample);

#endif
