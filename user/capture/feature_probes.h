/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The probes behind the rows of features.c. Private to this folder.
 *
 * Each tries the thing itself, touches nothing that lasts, and returns 0 or the negative errno of
 * the attempt. `found` has FEATURE_FOUND_BYTES bytes and is "" before the call.
 */
#ifndef CAPTURE_FEATURE_PROBES_H
#define CAPTURE_FEATURE_PROBES_H

#include "capture/features.h"

/* The kernel's BTF is where libbpf looks for it. */
int probe_btf(char *found);
/* A cpu-clock event of another's process opens on a CPU. */
int probe_perf_events(char *found);
/* A BPF ring buffer can be made. */
int probe_ring_buffer(char *found);
/* A program of type perf_event loads, and attaches to a cpu-clock event. */
int probe_perf_program(char *found);
/* A program that reads kernel memory loads: not so under lockdown=confidentiality. */
int probe_read_kernel(char *found);
/* A program on a raw tracepoint attaches. */
int probe_raw_tracepoint(char *found);
/* Side-band events come with build ids, and those of others, that did not ask for any, are not
 * marked as if they did (-EOPNOTSUPP: they are). */
int probe_mmap_build_id(char *found);
/* /proc/kallsyms shows addresses. */
int probe_kernel_symbols(char *found);
/* The JIT compiler tells kallsyms the names of BPF programs. */
int probe_bpf_symbols(char *found);
/* The mappings of every process can be read. */
int probe_other_processes(char *found);
/* A PMU counts cycles, and can interrupt. */
int probe_cycles(char *found);
/* Cycles can be sampled with a stack of the last branches. */
int probe_branch_records(char *found);
/* Cycles can be sampled with a branch stack of calls. */
int probe_branch_stack(char *found);
/* A branch stack says in which register its newest entry lies, and the programs can read that. */
int probe_branch_index(char *found);
/* The kernel measures how long BPF programs run. */
int probe_bpf_stats(char *found);
/* Maps as large as a recording needs are allowed. */
int probe_memlock(char *found);
/* The highest rate that the kernel takes is at least our default. */
int probe_sample_rate(char *found);
/* Stacks of our default depth are taken. */
int probe_stack_depth(char *found);
/* BPF programs on perf events can ask for the user registers of a task that is in the kernel. */
int probe_task_registers(char *found);
/* The mappings of a process are in a tree that the programs know. */
int probe_mapping_tree(char *found);
/* The kernel counts the changes of a process's mappings. */
int probe_mapping_sequence(char *found);

/* The programs can tell of which cgroup a task is, in a tree that is mounted. */
int probe_cgroup_ids(char *found);

/* Which of the `names` (NULL ends) the kernel's struct has first: its place, or a negative errno.
 */
int probe_members(const char *struct_name, const char *const *names);

#endif
