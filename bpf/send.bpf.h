/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records into the ring.
 */
#ifndef SEND_BPF_H
#define SEND_BPF_H

#include "maps.bpf.h"

enum { RING_TRIES = 8 };
_Static_assert(COUNTER_overflows == 0, "no loss has this number");

/* Puts the record into the ring. Returns 0, or the counter of why that could not be. While the
 * reader keeps up nobody is woken: it comes by itself a few times a second. In NMI context the
 * ring's lock is only tried, so another CPU that holds it for its 50 ns must not cost us the
 * sample. Not inlined: see struct user_walk. */
static __noinline u32 send_record(struct sample_record *record)
{
	u32 words = record->header.kernel_frames + record->header.user_frames +
		    record->header.branch_words;
	u32 bytes = sizeof(record->header) + words * sizeof(u64);
	u64 waiting = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA);
	u64 wake = waiting >= settings.ring_wake_bytes ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
	u32 lost = COUNTER_lost_ring_full;

	if (bytes > sizeof(*record)) /* never: for the verifier */
		return lost;
	for (u32 i = 0; i < RING_TRIES; i++) {
		if (!bpf_ringbuf_output(&ring, record, bytes, wake))
			return 0;
		lost = COUNTER_lost_ring_full;
		if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) + bytes + BPF_RINGBUF_HDR_SZ >
		    settings.ring_bytes)
			break;
		lost = COUNTER_lost_ring_busy;
	}
	return lost;
}

#endif
