/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's structs, as far as our BPF programs read them. See README.md.
 *
 * Everything below has preserve_access_index: libbpf finds each field by its name in the BTF of the
 * kernel it loads into, so order and size here mean nothing. What user space may know of the kernel
 * (BPF, perf events, registers) comes from the UAPI headers.
 */
#ifndef VMLINUX_H
#define VMLINUX_H

#include <linux/types.h>

#include <asm/ptrace.h>
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/perf_event.h>

#include <stdbool.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* --- tasks --- */

struct signal_struct;
struct css_set;

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct task_struct {
	unsigned int flags;
	int pid;
	int tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct signal_struct *signal;
	struct css_set *cgroups;
};

/* --- control groups --- */

enum cgroup_subsys_id {
	perf_event_cgrp_id = 8,
};

struct kernfs_node {
	__u64 id;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1];
	struct cgroup *dfl_cgrp;
};

#pragma clang attribute pop

#endif
