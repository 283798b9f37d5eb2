/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fills one sample, and sends or counts it.
 */
#ifndef SAMPLE_BPF_H
#define SAMPLE_BPF_H

#include "aggregate.bpf.h"
#include "branch_stack.bpf.h"
#include "filter.bpf.h"
#include "maps.bpf.h"
#include "proof.bpf.h"
#include "send.bpf.h"
#include "stacks.bpf.h"

static __always_inline void send_sample(struct sample_record *record)
{
	u32 lost = send_record(record);

	count(lost ? lost : COUNTER_samples_sent);
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

/* What the sample stands for, in the event's unit. */
static __always_inline u64 period_of(const struct bpf_perf_event_data *ctx, u32 source)
{
	u64 changed = changed_periods[source % SOURCES_MAX];

	return changed ? changed : ctx->sample_period;
}

/* Has the CPU fetch what the sample will look at later, all of it side by side: at a hundred
 * samples a second it is cold, and most of a sample is waiting for one line after the other. First
 * what is known of the process, and, when the header has been filled meanwhile, what follows. */
static __always_inline void ask_ahead(struct scratch *scratch, u64 time_ns)
{
	if (!settings.count_slots)
		return;
	ask_for_process(scratch, time_ns);
	ask_for_name();
}

static __always_inline void ask_further(struct scratch *scratch)
{
	if (!settings.count_slots) /* mostly at such a rate */
		return;
	if (settings.walkers & WALKER_EH_FRAME)
		ask_for_rules(scratch);
	ask_for_log(scratch->record.header.cpu);
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
	ask_ahead(scratch, time_ns);
	scratch->record.header = (struct sample_header){
		.kind = RECORD_SAMPLE,
		.source = source,
		.cpu = bpf_get_smp_processor_id(),
		.time_ns = time_ns,
		.address = PT_REGS_IP(&ctx->regs),
		.period = period_of(ctx, source),
		.cgroup = current_cgroup(),
		.pid = ids.pid,
		.tid = ids.tid,
		.mode = mode,
		.end = END_NO_STACK,
	};
	scratch->walk.is_done = 0;
	scratch->walk.has_rest = 0;
	scratch->walk.context = 0;
	ask_further(scratch);
	if (settings.wants_stacks)
		take_stacks(ctx, scratch);
	if (settings.wants_branches)
		take_branches(ctx, &scratch->record);
	if ((settings.walkers & WALKER_EH_FRAME) && scratch->walk.has_rest &&
	    scratch->record.header.end != END_COMPLETE)
		send_rest();
	if (settings.count_slots)
		complete_context(scratch);
	if (!settings.count_slots || !count_sample(scratch))
		send_sample(&scratch->record);
	if (settings.wants_proof && scratch->walk.is_done)
		send_proof(scratch);
	scratch->busy = 0;
}

#endif
