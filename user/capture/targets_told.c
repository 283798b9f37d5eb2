/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel tells about processes, as far as they are profiled. The BPF programs decide that
 * for samples; here it is decided again for all the rest.
 */
#include "capture/targets_state.h"

#include "base/clock.h"
#include "base/memory.h"

enum { LINGER_NS = 1000000000 };

static bool is_wanted(const struct targets *targets, u32 pid)
{
	return idmap_get(&targets->known, WANTED_PROCESS | pid);
}

static struct targets *targets_of(struct event_sink *front)
{
	return (struct targets *)front; /* its first member */
}

static int pass_mapping(struct event_sink *self, const struct mapping *mapping)
{
	struct targets *targets = targets_of(self);

	if (mapping->space == SPACE_USER && !is_wanted(targets, mapping->pid))
		return 0;
	return sink_call(targets->front.next, on_mapping, mapping);
}

static int pass_name(struct event_sink *self, const struct thread_name *name)
{
	struct targets *targets = targets_of(self);

	if (!is_wanted(targets, name->pid))
		return 0;
	for (size_t i = 0; name->is_exec && i < targets->ended.count; i++)
		if (targets->ended.items[i].pid == name->pid)
			targets->ended.items[i].pid = 0;
	return sink_call(targets->front.next, on_name, name);
}

static void add_descendant(struct targets *targets, u64 key)
{
	u32 *place = idmap_place(&targets->known, key);

	if (!*place)
		targets->descendants++;
	if (*place != NAMED)
		*place = DESCENDANT;
}

static void follow(struct targets *targets, const struct thread_life *life)
{
	bool is_thread = life->pid == life->parent_pid;

	/* Which thread made it a scan does not tell. */
	if (!life->is_synthesized && idmap_get(&targets->known, FOLLOW_THREAD | life->parent_tid))
		add_descendant(targets,
			       is_thread ? FOLLOW_THREAD | life->tid : FOLLOW_PROCESS | life->pid);
	else if (!is_thread && idmap_get(&targets->known, FOLLOW_PROCESS | life->parent_pid))
		add_descendant(targets, FOLLOW_PROCESS | life->pid);
	if (idmap_get(&targets->known, FOLLOW_PROCESS | life->pid))
		*idmap_place(&targets->known, WANTED_PROCESS | life->pid) = DESCENDANT;
}

/* The programs follow the children of whom they know. A child that was born before they were told
 * of its parent they have not seen; they are told of it now, and what it has started meanwhile
 * comes here later. */
static void tell_missed(struct targets *targets, const struct thread_life *life)
{
	u64 key = FOLLOW_PROCESS | life->pid;

	if (life->pid != life->tid || life->time_ns > targets->settled_ns ||
	    idmap_get(&targets->known, key) != DESCENDANT)
		return;
	*vec_add(&targets->keys) = key;
	targets->follower.follow(targets->follower.context, key);
	targets->settled_ns = clock_ns(CLOCK_MONOTONIC);
}

static int pass_fork(struct event_sink *self, const struct thread_life *life)
{
	struct targets *targets = targets_of(self);

	if (!targets->settings->no_inherit) {
		follow(targets, life);
		tell_missed(targets, life);
	}
	return is_wanted(targets, life->pid) ? sink_call(targets->front.next, on_fork, life) : 0;
}

static void forget_descendant(struct targets *targets, u64 key)
{
	if (idmap_get(&targets->known, key) != DESCENDANT)
		return;
	idmap_remove(&targets->known, key);
	targets->descendants--;
}

static int pass_exit(struct event_sink *self, const struct thread_life *life)
{
	struct targets *targets = targets_of(self);

	if (!is_wanted(targets, life->pid))
		return 0;
	forget_descendant(targets, FOLLOW_THREAD | life->tid);
	if (life->pid == life->tid)
		*vec_add(&targets->ended) = (struct ended_process){.pid = life->pid,
								   .time_ns = life->time_ns};
	return sink_call(targets->front.next, on_exit, life);
}

static void forget_ended(struct targets *targets, u64 before_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < targets->ended.count; i++) {
		struct ended_process ended = targets->ended.items[i];

		if (ended.pid && ended.time_ns >= before_ns) {
			targets->ended.items[kept++] = ended;
		} else if (ended.pid) {
			forget_descendant(targets, FOLLOW_PROCESS | ended.pid);
			if (idmap_get(&targets->known, WANTED_PROCESS | ended.pid) == DESCENDANT)
				idmap_remove(&targets->known, WANTED_PROCESS | ended.pid);
		}
	}
	targets->ended.count = kept;
}

static int pass_round(struct event_sink *self, u64 time_ns)
{
	struct targets *targets = targets_of(self);

	forget_ended(targets, time_ns > LINGER_NS ? time_ns - LINGER_NS : 0);
	return sink_call(targets->front.next, on_round, time_ns);
}

struct event_sink *targets_sink(struct targets *targets, struct event_sink *next)
{
	if (!targets_are_limited(targets))
		return next;
	passing_sink_init(&targets->front, next);
	targets->front.sink.on_mapping = pass_mapping;
	targets->front.sink.on_name = pass_name;
	targets->front.sink.on_fork = pass_fork;
	targets->front.sink.on_exit = pass_exit;
	targets->front.sink.on_round = pass_round;
	return &targets->front.sink;
}
