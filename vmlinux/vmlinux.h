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

struct mm_struct;

struct task_struct {
	void *stack;
	unsigned int flags;
	struct mm_struct *mm;
	int pid;
	int tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	__u64 start_time;
	struct signal_struct *signal;
	__u64 self_exec_id;
	char comm[16];
	struct css_set *cgroups;
};

/* --- mappings --- */

struct super_block {
	unsigned int s_dev;
};

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
	__u32 i_generation;
};

struct path {
	struct dentry *dentry;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
};

struct rb_node {
	struct rb_node *rb_right;
	struct rb_node *rb_left;
};

struct rb_root {
	struct rb_node *rb_node;
};

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	atomic_t refs;
} refcount_t;

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	struct mm_struct *vm_mm;
	struct rb_node vm_rb; /* until 6.0 */
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
	bool detached;	      /* since 6.4, until 6.14 */
	refcount_t vm_refcnt; /* since 6.15 */
};

struct maple_metadata { /* since 6.1, as all of the maple tree */
	unsigned char end;
};

struct maple_range_64 { /* since 6.1 */
	unsigned long pivot[15];
	union {
		void *slot[16];
		struct {
			void *pad[15];
			struct maple_metadata meta;
		};
	};
};

struct maple_arange_64 { /* since 6.1 */
	unsigned long pivot[9];
	void *slot[10];
	struct maple_metadata meta;
};

struct maple_tree { /* since 6.1 */
	void *ma_root;
};

struct seqcount {
	unsigned int sequence;
};

typedef struct seqcount seqcount_t;

typedef struct {
	void *vdso;
} mm_context_t;

struct mm_struct {
	struct maple_tree mm_mt; /* since 6.1 */
	struct rb_root mm_rb;	 /* until 6.0 */
	seqcount_t mm_lock_seq;	 /* since 6.13 */
	unsigned long start_stack;
	mm_context_t context;
};

/* The same with the type that the field had before; what stands behind ___ is no part of the name.
 */
struct mm_struct___until_6_12 {
	int mm_lock_seq; /* since 6.4 */
};

/* Only its size is wanted, by those who find it themselves; on arm64, where UAPI has only a part.
 */
struct pt_regs___kernel { /* until 5.14 */
	int syscallno;
};

/* --- how the kernel's own code is unwound (x86-64) --- */

struct orc_entry {
	__s16 sp_offset;
	__s16 bp_offset;
	unsigned int sp_reg : 4;
	unsigned int bp_reg : 4;
	unsigned int type : 3;
	unsigned int end : 1; /* until 6.3 */
};

/* --- what an overflow of a perf event brings --- */

struct perf_branch_stack {
	__u64 nr;
	__u64 hw_idx;
	struct perf_branch_entry entries[1];
};

struct perf_sample_data {
	__u64 sample_flags; /* since 6.1 */
	struct perf_branch_stack *br_stack;
};

struct bpf_perf_event_data_kern {
	struct perf_sample_data *data;
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
