/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Is this thread profiled?
 *
 * Who was asked for is known by number; who descends from them by the address of a kernel struct
 * (signal_struct for a whole process, task_struct for one thread), which is not reused before
 * on_free() has seen it go. All of them are keys of one map: numbers stay below 2^33, kernel
 * addresses lie far above.
 */
#ifndef FILTER_BPF_H
#define FILTER_BPF_H

#include "maps.bpf.h"

#include <bpf/bpf_core_read.h>

enum { NAMESPACE_LEVELS_MAX = 8 };

#define OUTSIDE 0xffffffffU

struct task_ids {
	u32 pid, tid;
};

/* The number of `pid` in the namespace of the settings, OUTSIDE if it is not in there. */
static __always_inline u32 number_in_namespace(const struct pid *pid)
{
	u32 level = BPF_CORE_READ(pid, level);
	const struct upid *numbers = __builtin_preserve_access_index(&pid->numbers[0]);

	for (u32 i = 0; i < NAMESPACE_LEVELS_MAX; i++) {
		const struct upid *number = (const void *)numbers +
					    (u64)i * bpf_core_type_size(struct upid);

		if (i > level)
			break;
		if (BPF_CORE_READ(number, ns, ns.inum) == settings.pid_namespace)
			return BPF_CORE_READ(number, nr);
	}
	return OUTSIDE;
}

static __always_inline struct task_ids ids_of(const struct task_struct *task)
{
	if (!settings.pid_namespace)
		return (struct task_ids){.pid = BPF_CORE_READ(task, tgid),
					 .tid = BPF_CORE_READ(task, pid)};
	return (struct task_ids){
		.pid = number_in_namespace(BPF_CORE_READ(task, group_leader, thread_pid)),
		.tid = number_in_namespace(BPF_CORE_READ(task, thread_pid)),
	};
}

/* The same for the running thread. */
static __always_inline struct task_ids current_ids(void)
{
	u64 both = bpf_get_current_pid_tgid();

	if (!settings.pid_namespace || !both) /* idle is idle in any namespace */
		return (struct task_ids){.pid = both >> 32, .tid = both};
	return ids_of((const void *)bpf_get_current_task());
}

static __always_inline bool has_key(u64 key)
{
	return bpf_map_lookup_elem(&followed, &key) != NULL;
}

static __always_inline void follow(u64 key)
{
	u8 value = 1;

	if (bpf_map_update_elem(&followed, &key, &value, BPF_ANY))
		count(COUNTER_unfollowed);
}

static __always_inline u64 process_key(const struct task_struct *task)
{
	return (u64)BPF_CORE_READ(task, signal);
}

static __always_inline void forget(const struct task_struct *task, bool with_process)
{
	u64 key = (u64)task;

	bpf_map_delete_elem(&followed, &key);
	key = process_key(task);
	if (with_process)
		bpf_map_delete_elem(&followed, &key);
}

static __always_inline bool is_followed_process(const struct task_struct *task, struct task_ids ids)
{
	return has_key(FOLLOW_PROCESS | ids.pid) || has_key(process_key(task));
}

static __always_inline bool is_followed_thread(const struct task_struct *task, struct task_ids ids)
{
	return has_key(FOLLOW_THREAD | ids.tid) || has_key((u64)task);
}

enum { CGROUP_LEVELS_MAX = 32 };

/* The task's cgroup in the tree of v2. */
static __always_inline const struct cgroup *cgroup_of(const struct task_struct *task)
{
	return BPF_CORE_READ(task, cgroups, dfl_cgrp);
}

/* The task's cgroup in the v1 tree of perf_event. */
static __always_inline const struct cgroup *cgroup_v1_of(const struct task_struct *task)
{
	const struct css_set *set = BPF_CORE_READ(task, cgroups);
	const void *first = __builtin_preserve_access_index(&set->subsys[0]);
	u64 row = bpf_core_enum_value(enum cgroup_subsys_id, perf_event_cgrp_id);
	const struct cgroup_subsys_state *state = NULL;

	bpf_probe_read_kernel(&state, sizeof(state), first + row * sizeof(state));
	return BPF_CORE_READ(state, cgroup);
}

/* The id of the running thread's cgroup, 0: unknown. */
static __always_inline u64 current_cgroup(void)
{
	if (settings.cgroup_tree == CGROUP_TREE_V2)
		return bpf_get_current_cgroup_id();
	if (settings.cgroup_tree == CGROUP_TREE_V1)
		return BPF_CORE_READ(cgroup_v1_of((const void *)bpf_get_current_task()), kn, id);
	return 0;
}

/* Whether the task is in the cgroup of the settings or below it. */
static __always_inline bool is_in_cgroup(const struct task_struct *task)
{
	const struct cgroup *cgroup = settings.cgroup_is_v2 ? cgroup_of(task) : cgroup_v1_of(task);

	for (u32 i = 0; i < CGROUP_LEVELS_MAX && cgroup; i++) {
		if (BPF_CORE_READ(cgroup, kn, id) == settings.cgroup_id)
			return true;
		cgroup = BPF_CORE_READ(cgroup, self.parent, cgroup);
	}
	return false;
}

/* Whether samples of the running thread are wanted. */
static __always_inline bool is_profiled(struct task_ids ids)
{
	const struct task_struct *task;

	if (settings.has_uid && (u32)bpf_get_current_uid_gid() != settings.uid)
		return false;
	if (!settings.cgroup_id && !settings.has_followed)
		return true;
	task = (const void *)bpf_get_current_task();
	if (settings.cgroup_id && !is_in_cgroup(task))
		return false;
	if (!settings.has_followed)
		return true;
	return is_followed_process(task, ids) || is_followed_thread(task, ids);
}

#endif
