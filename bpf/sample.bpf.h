/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fills and sends one sample.
 */
#ifndef SAMPLE_BPF_H
#define SAMPLE_BPF_H

#include "branch_stack.bpf.h"
#include "filter.bpf.h"
#include "maps.bpf.h"
#include "proof.bpf.h"
#include "stacks.bpf.h"

enum { RING_TRIES = 8 };

/* Puts the record into the ring. While the reader keeps up nobody is woken: it comes by itself a
 * few times a second. In NMI context the ring's lock is only tried, so another CPU that holds it
 * for its 50 ns must not cost us the sample. */
static __always_inline void send_sample(struct sample_record *record)
{
	u32 words = record->header.kernel_frames + record->header.user_frames +
		    record->header.branch_words;
	u32 bytes = sizeof(record->header) + words * sizeof(u64);
	u64 waiting = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA);
	u64 wake = waiting >= settings.ring_wake_bytes ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
	u32 counter = COUNTER_lost_ring_full;

	if (bytes > sizeof(*record)) /* never: for the verifier */
		return;
	for (u32 i = 0; i < RING_TRIES; i++) {
		if (!bpf_ringbuf_output(&ring, record, bytes, wake)) {
			count(COUNTER_samples_sent);
			return;
		}
		counter = COUNTER_lost_ring_full;
		if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) + bytes + BPF_RINGBUF_HDR_SZ >
		    settings.ring_bytes)
			break;
		counter = COUNTER_lost_ring_busy;
	}
	count(counter);
}

/* Counts one run of a program of `source`. */
static __always_inline void count_overflow(u32 source)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct cpu_counters *here = bpf_map_lookup_elem(&counters, &cpu);

	if (here && source < SOURCES_MAX)
		here->overflows[source]++;
}

/* Whether this overflow is to become a sample; counts it if not. */
static __always_inline bool is_wanted(struct task_ids ids, u32 source, u8 mode)
{
	u8 clock_mode = settings.clock_modes[source % SOURCES_MAX];

	if (!ids.tid && !settings.wants_idle) {
		count(COUNTER_skipped_idle);
		return false;
	}
	if ((clock_mode == CLOCK_USER_ONLY && mode != MODE_USER) ||
	    (clock_mode == CLOCK_KERNEL_ONLY && mode != MODE_KERNEL)) {
		count(COUNTER_skipped_mode);
		return false;
	}
	if (!is_profiled(ids)) {
		count(COUNTER_skipped_target);
		return false;
	}
	return true;
}

/* The body of every sampling program. Overflows of one CPU do not nest in BPF today (the kernel
 * passes over a program that another one interrupts); `busy` is there for the day they do. */
static __always_inline void take_sample(struct bpf_perf_event_data *ctx, u32 source)
{
	u64 time_ns = bpf_ktime_get_ns();
	u8 mode = is_user_mode(&ctx->regs) ? MODE_USER : MODE_KERNEL;
	struct task_ids ids = current_ids();
	struct scratch *scratch;

	count_overflow(source);
	if (!is_wanted(ids, source, mode))
		return;
	scratch = scratch_here();
	if (!scratch || scratch->busy) {
		count(COUNTER_lost_scratch_busy);
		return;
	}
	scratch->busy = 1;
	scratch->record.header = (struct sample_header){
		.kind = RECORD_SAMPLE,
		.source = source,
		.cpu = bpf_get_smp_processor_id(),
		.time_ns = time_ns,
		.address = PT_REGS_IP(&ctx->regs),
		.period = ctx->sample_period,
		.pid = ids.pid,
		.tid = ids.tid,
		.mode = mode,
		.end = END_NO_STACK,
	};
	scratch->walk.is_done = 0;
	scratch->walk.has_rest = 0;
	if (settings.wants_stacks)
		take_stacks(ctx, scratch);
	if (settings.wants_branches)
		take_branches(ctx, &scratch->record);
	if ((settings.walkers & WALKER_EH_FRAME) && scratch->walk.has_rest &&
	    scratch->record.header.end != END_COMPLETE)
		send_rest();
	send_sample(&scratch->record);
	if (settings.wants_proof && scratch->walk.is_done)
		send_proof(scratch);
	scratch->busy = 0;
}

#endif
