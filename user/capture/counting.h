/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tables in which the BPF programs count samples: window by window, and back into samples.
 */
#ifndef CAPTURE_COUNTING_H
#define CAPTURE_COUNTING_H

#include "bpfprof/event.h"
#include "capture/bpf_object.h"
#include "event/event.h"

#include <stdbool.h>

struct counting;

/* Maps the tables. `has_chain`: stacks are asked for. Returns 0 or a negative errno with a
 * sentence. */
int counting_open(const struct count_maps *maps, bool has_chain, struct counting **ret_counting);
/* Unmaps and frees; NULL is fine. */
void counting_close(struct counting *counting);

/* Takes in the chain of a sample that is counted in a window (0 or 1). The header says how many
 * frames there are. */
void counting_take_chain(struct counting *counting, u32 window, const struct sample_header *header,
			 const u64 *frames);

/* Takes in the chains that lie in the logs of the CPUs. */
void counting_read_logs(struct counting *counting);

/* Begins the next window: when it returns nothing is written into the old one any more, and all of
 * its chains are in the logs or the ring. Returns 0 or a negative errno with a sentence. */
int counting_turn(struct counting *counting);

/* Hands over what was counted in the window before, in order of time, and empties it. Returns 0 or
 * what the sink returned. */
int counting_hand_over(struct counting *counting, struct event_sink *sink);

/* Whether all older than `time_ns` has been handed over: the time until which that is so, `time_ns`
 * or less. NULL: nothing is counted. */
u64 counting_round_ns(const struct counting *counting, u64 time_ns);

/* How many samples were counted whose chain is not known: they were not handed over. NULL:
 * none. */
u64 counting_malformed(const struct counting *counting);

#endif
