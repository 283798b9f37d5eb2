/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The programs: one that takes samples for each event of the recording, and three that follow what
 * the profiled processes start.
 */
#include "sample.bpf.h"

#include <bpf/bpf_helpers.h>

char program_license[] SEC("license") = "Dual BSD/GPL";

/* One program an event, because Linux before 5.15 has no other way to tell a program for which of
 * its events it runs. User space loads as many as there are events. */
static __noinline int sample(struct bpf_perf_event_data *ctx, u32 source)
{
	take_sample(ctx, source);
	return 0; /* nothing goes into perf's own buffer */
}

#define SAMPLER(source)                                        \
	SEC("perf_event")                                      \
	int on_event_##source(struct bpf_perf_event_data *ctx) \
	{                                                      \
		return sample(ctx, source);                    \
	}

SAMPLER(0)
SAMPLER(1)
SAMPLER(2)
SAMPLER(3)
SAMPLER(4)
SAMPLER(5)
SAMPLER(6)
SAMPLER(7)
SAMPLER(8)
SAMPLER(9)
SAMPLER(10)
SAMPLER(11)
SAMPLER(12)
SAMPLER(13)
SAMPLER(14)
SAMPLER(15)

/* A process or thread begins: it is followed if who started it is. Linux 6.18 does not show
 * on_free() all that is gone on a busy machine: who is not followed may have the address of one
 * that was. */
SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *parent = (const void *)ctx->args[0];
	const struct task_struct *child = (const void *)ctx->args[1];
	struct task_ids ids = ids_of(parent);
	bool is_thread = process_key(parent) == process_key(child);

	if (is_followed_thread(parent, ids))
		follow(is_thread ? (u64)child : process_key(child));
	else if (!is_thread && is_followed_process(parent, ids))
		follow(process_key(child));
	else
		forget(child, !is_thread);
	return 0;
}

/* The command has become itself: from here on it is profiled. */
SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = (const void *)ctx->args[0];

	if (ids_of(task).pid == settings.command_pid)
		follow(settings.inherit ? process_key(task) : (u64)task);
	return 0;
}

/* Nobody can see the task any more; its address may be used again. */
SEC("raw_tp/sched_process_free")
int on_free(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *task = (const void *)ctx->args[0];

	forget(task, BPF_CORE_READ(task, group_leader) == task);
	return 0;
}
