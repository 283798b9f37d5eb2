/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps events for a round and sorts them.
 */
#include "event/sorter.h"

#include "base/memory.h"
#include "base/vec.h"
#include "event/order.h"
#include "event/sample.h"

#include <string.h>

enum event_kind {
	KIND_SAMPLE,
	KIND_MAPPING,
	KIND_NAME,
	KIND_FORK,
	KIND_EXIT,
	KIND_KERNEL_SYMBOL,
	KIND_BPF_PROGRAM,
	KIND_CGROUP,
	KIND_LOSS,
};

/* One event, and behind it what it points to. */
struct kept {
	enum event_kind kind;
	union {
		struct sample sample;
		struct mapping mapping;
		struct thread_name name;
		struct thread_life life;
		struct kernel_symbol kernel_symbol;
		struct bpf_program bpf_program;
		struct cgroup_name cgroup;
		struct loss loss;
	} event;
	char behind[];
};

struct sorter {
	struct event_sink sink; /* first */
	struct event_sink *next;
	VEC(struct timed) order; /* places are addresses of what is kept */
};

static struct sorter *sorter_of(struct event_sink *sink)
{
	return (struct sorter *)sink;
}

/* Room for an event of that time, with so many bytes behind it. */
static struct kept *keep(struct event_sink *sink, enum event_kind kind, u64 time_ns,
			 size_t bytes_behind)
{
	struct kept *kept = must_alloc(sizeof(*kept) + bytes_behind);

	kept->kind = kind;
	*vec_add(&sorter_of(sink)->order) = (struct timed){.time_ns = time_ns,
							   .place = (u64)(uintptr_t)kept};
	return kept;
}

static int keep_sample(struct event_sink *sink, const struct sample *sample)
{
	size_t frame_bytes = sample->frame_count * sizeof(*sample->frames);
	size_t branch_bytes = sample->branch_count * sizeof(*sample->branches);
	struct kept *kept = keep(sink, KIND_SAMPLE, sample->time_ns, branch_bytes + frame_bytes);

	kept->event.sample = *sample;
	/* No live stream has them. */
	kept->event.sample.user_abi = USER_ABI_NONE;
	kept->event.sample.user_registers = kept->event.sample.user_stack = NULL;
	kept->event.sample.stack_bytes = 0;
	kept->event.sample.branches = (struct branch *)(void *)kept->behind;
	kept->event.sample.frames = (struct frame *)(void *)(kept->behind + branch_bytes);
	if (branch_bytes) /* neither may be NULL */
		memcpy(kept->behind, sample->branches, branch_bytes);
	if (frame_bytes)
		memcpy(kept->behind + branch_bytes, sample->frames, frame_bytes);
	return 0;
}

/* Events with a text. */
#define KEEP_TEXT(function, wanted, type, member, text)                                            \
	static int function(struct event_sink *sink, const struct type *event)                     \
	{                                                                                          \
		struct kept *kept = keep(sink, wanted, event->time_ns, strlen(event->text) + 1);   \
                                                                                                   \
		kept->event.member = *event;                                                       \
		kept->event.member.text = strcpy(kept->behind, event->text); /* it has the room */ \
		return 0;                                                                          \
	}
KEEP_TEXT(keep_mapping, KIND_MAPPING, mapping, mapping, path)
KEEP_TEXT(keep_name, KIND_NAME, thread_name, name, name)
KEEP_TEXT(keep_kernel_symbol, KIND_KERNEL_SYMBOL, kernel_symbol, kernel_symbol, name)
KEEP_TEXT(keep_cgroup, KIND_CGROUP, cgroup_name, cgroup, path)

/* Events that point to nothing. */
#define KEEP_PLAIN(function, wanted, type, member)                             \
	static int function(struct event_sink *sink, const struct type *event) \
	{                                                                      \
		keep(sink, wanted, event->time_ns, 0)->event.member = *event;  \
		return 0;                                                      \
	}
KEEP_PLAIN(keep_fork, KIND_FORK, thread_life, life)
KEEP_PLAIN(keep_exit, KIND_EXIT, thread_life, life)
KEEP_PLAIN(keep_bpf_program, KIND_BPF_PROGRAM, bpf_program, bpf_program)
KEEP_PLAIN(keep_loss, KIND_LOSS, loss, loss)

static int hand_over(struct event_sink *next, const struct kept *kept)
{
	switch (kept->kind) {
	case KIND_SAMPLE:
		return sink_call(next, on_sample, &kept->event.sample);
	case KIND_MAPPING:
		return sink_call(next, on_mapping, &kept->event.mapping);
	case KIND_NAME:
		return sink_call(next, on_name, &kept->event.name);
	case KIND_FORK:
		return sink_call(next, on_fork, &kept->event.life);
	case KIND_EXIT:
		return sink_call(next, on_exit, &kept->event.life);
	case KIND_KERNEL_SYMBOL:
		return sink_call(next, on_kernel_symbol, &kept->event.kernel_symbol);
	case KIND_BPF_PROGRAM:
		return sink_call(next, on_bpf_program, &kept->event.bpf_program);
	case KIND_CGROUP:
		return sink_call(next, on_cgroup, &kept->event.cgroup);
	case KIND_LOSS:
		return sink_call(next, on_loss, &kept->event.loss);
	}
	return 0;
}

/* Hands over what is older. After an error what is left is only freed. */
static int hand_over_until(struct sorter *sorter, u64 time_ns)
{
	size_t done = 0;
	int error = 0;

	order_by_time(sorter->order.items, sorter->order.count);
	for (; done < sorter->order.count; done++) {
		struct kept *kept = (struct kept *)(uintptr_t)sorter->order.items[done].place;

		if (sorter->order.items[done].time_ns >= time_ns)
			break;
		if (!error)
			error = hand_over(sorter->next, kept);
		free(kept);
	}
	sorter->order.count -= done;
	if (done && sorter->order.count)
		memmove(sorter->order.items, sorter->order.items + done,
			sorter->order.count * sizeof(*sorter->order.items));
	return error;
}

static int end_round(struct event_sink *sink, u64 time_ns)
{
	struct sorter *sorter = sorter_of(sink);
	int error = hand_over_until(sorter, time_ns);

	return error ? error : sink_call(sorter->next, on_round, time_ns);
}

static int end_all(struct event_sink *sink)
{
	struct sorter *sorter = sorter_of(sink);
	int error = hand_over_until(sorter, ~0ULL);

	if (!error && sorter->next->on_end)
		error = sorter->next->on_end(sorter->next);
	return error;
}

struct event_sink *sorter_new(struct event_sink *next)
{
	struct sorter *sorter = must_alloc(sizeof(*sorter));

	sorter->next = next;
	sorter->sink = (struct event_sink){
		.on_sample = keep_sample,
		.on_mapping = keep_mapping,
		.on_name = keep_name,
		.on_fork = keep_fork,
		.on_exit = keep_exit,
		.on_kernel_symbol = keep_kernel_symbol,
		.on_bpf_program = keep_bpf_program,
		.on_cgroup = keep_cgroup,
		.on_loss = keep_loss,
		.on_round = end_round,
		.on_end = end_all,
	};
	return &sorter->sink;
}

void sorter_free(struct event_sink *sorter)
{
	struct sorter *self = sorter ? sorter_of(sorter) : NULL;

	if (!self)
		return;
	for (size_t i = 0; i < self->order.count; i++)
		free((void *)(uintptr_t)self->order.items[i].place);
	vec_release(&self->order);
	free(self);
}
