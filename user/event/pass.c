/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hands every event on.
 */
#include "event/pass.h"

static struct event_sink *behind(struct event_sink *sink)
{
	return ((struct passing_sink *)sink)->next; /* the sink is its first member */
}

#define PASS(member, type)                                            \
	static int pass_##member(struct event_sink *sink, type event) \
	{                                                             \
		return sink_call(behind(sink), member, event);        \
	}

PASS(on_sample, const struct sample *)
PASS(on_mapping, const struct mapping *)
PASS(on_name, const struct thread_name *)
PASS(on_fork, const struct thread_life *)
PASS(on_exit, const struct thread_life *)
PASS(on_kernel_symbol, const struct kernel_symbol *)
PASS(on_bpf_program, const struct bpf_program *)
PASS(on_cgroup, const struct cgroup_name *)
PASS(on_loss, const struct loss *)
PASS(on_round, u64)

static int pass_on_end(struct event_sink *sink)
{
	return sink_call(behind(sink), on_end);
}

void passing_sink_init(struct passing_sink *passing, struct event_sink *next)
{
	*passing = (struct passing_sink){
		.sink =
			{
				.on_sample = pass_on_sample,
				.on_mapping = pass_on_mapping,
				.on_name = pass_on_name,
				.on_fork = pass_on_fork,
				.on_exit = pass_on_exit,
				.on_kernel_symbol = pass_on_kernel_symbol,
				.on_bpf_program = pass_on_bpf_program,
				.on_cgroup = pass_on_cgroup,
				.on_loss = pass_on_loss,
				.on_round = pass_on_round,
				.on_end = pass_on_end,
			},
		.next = next,
	};
}
