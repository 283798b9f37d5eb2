/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hands every event to several sinks in turn.
 */
#include "event/tee.h"

#include "base/memory.h"

#include <string.h>

struct tee {
	struct event_sink sink;
	size_t count;
	struct event_sink *sinks[];
};

static struct tee *tee_of(struct event_sink *sink)
{
	return (struct tee *)sink; /* the sink is its first member */
}

#define HAND(member, type)                                               \
	static int hand_##member(struct event_sink *sink, type event)    \
	{                                                                \
		const struct tee *tee = tee_of(sink);                    \
		int error = 0;                                           \
                                                                         \
		for (size_t i = 0; i < tee->count && !error; i++)        \
			error = sink_call(tee->sinks[i], member, event); \
		return error;                                            \
	}

HAND(on_sample, const struct sample *)
HAND(on_mapping, const struct mapping *)
HAND(on_name, const struct thread_name *)
HAND(on_fork, const struct thread_life *)
HAND(on_exit, const struct thread_life *)
HAND(on_kernel_symbol, const struct kernel_symbol *)
HAND(on_bpf_program, const struct bpf_program *)
HAND(on_cgroup, const struct cgroup_name *)
HAND(on_loss, const struct loss *)
HAND(on_round, u64)

/* Frames may be left out if nobody who hears of samples wants them. */
static bool all_know_chain(struct event_sink *sink, const struct sample *sample)
{
	const struct tee *tee = tee_of(sink);
	bool is_known = true;

	for (size_t i = 0; i < tee->count && is_known; i++)
		is_known = !tee->sinks[i]->on_sample ||
			   sink_call(tee->sinks[i], knows_chain, sample);
	return is_known;
}

static int hand_on_end(struct event_sink *sink)
{
	const struct tee *tee = tee_of(sink);
	int error = 0;

	for (size_t i = 0; i < tee->count && !error; i++)
		error = sink_call(tee->sinks[i], on_end);
	return error;
}

struct event_sink *tee_new(struct event_sink *const *sinks, size_t count)
{
	struct tee *tee = must_alloc(sizeof(*tee) + count * sizeof(*sinks));

	memcpy(tee->sinks, sinks, count * sizeof(*sinks));
	tee->count = count;
	tee->sink = (struct event_sink){
		.on_sample = hand_on_sample,
		.knows_chain = all_know_chain,
		.on_mapping = hand_on_mapping,
		.on_name = hand_on_name,
		.on_fork = hand_on_fork,
		.on_exit = hand_on_exit,
		.on_kernel_symbol = hand_on_kernel_symbol,
		.on_bpf_program = hand_on_bpf_program,
		.on_cgroup = hand_on_cgroup,
		.on_loss = hand_on_loss,
		.on_round = hand_on_round,
		.on_end = hand_on_end,
	};
	return &tee->sink;
}

void tee_free(struct event_sink *tee)
{
	free(tee);
}
