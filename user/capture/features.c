/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rows of what this kernel and this user may do.
 */
#include "capture/features.h"

#include "base/fail.h"
#include "base/memory.h"
#include "capture/feature_probes.h"

#include <linux/capability.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RIGHTS "run as root, or give the program CAP_BPF and CAP_PERFMON"

/* In the order in which a person would mend them. */
static const struct feature features[] = {
	{"kernel-btf", "kernel BTF", "any recording",
	 "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y", FEATURE_REQUIRED, probe_btf},
	{"perf-events", "perf events", "any recording",
	 "run as root, give the program CAP_PERFMON, or: sysctl kernel.perf_event_paranoid=-1",
	 FEATURE_REQUIRED, probe_perf_events},
	{"ring-buffer", "BPF ring buffer", "any recording", RIGHTS, FEATURE_REQUIRED,
	 probe_ring_buffer},
	{"perf-program", "BPF programs on perf events", "any recording", RIGHTS, FEATURE_REQUIRED,
	 probe_perf_program},
	{"read-kernel", "kernel memory from BPF", "any recording",
	 RIGHTS "; lockdown=confidentiality forbids it: boot with lockdown=integrity or none",
	 FEATURE_REQUIRED, probe_read_kernel},
	{"raw-tracepoint", "BPF programs on raw tracepoints",
	 "following what -p and a command start", RIGHTS, FEATURE_REQUIRED, probe_raw_tracepoint},
	{"memlock", "memory for BPF maps", "any recording",
	 RIGHTS "; before Linux 5.11 also: ulimit -l unlimited", FEATURE_REQUIRED, probe_memlock},
	{"mmap-build-id", "build ids from the kernel",
	 "build ids of files that are replaced or deleted at once",
	 "those that still exist are read from the files instead", FEATURE_WANTED,
	 probe_mmap_build_id},
	{"kernel-symbols", "kernel symbols", "names of kernel functions",
	 "run as root, give the program CAP_SYSLOG, or: sysctl kernel.kptr_restrict=0 "
	 "kernel.perf_event_paranoid=1",
	 FEATURE_WANTED, probe_kernel_symbols},
	{"bpf-symbols", "symbols of BPF programs", "names of BPF programs in kernel stacks",
	 "sysctl net.core.bpf_jit_kallsyms=1", FEATURE_WANTED, probe_bpf_symbols},
	{"other-processes", "mappings of all processes", "names in processes that run already",
	 "run as root, or give the program CAP_SYS_PTRACE (a container too)", FEATURE_WANTED,
	 probe_other_processes},
	{"sample-rate", "sampling rate", "the default of 99 Hz",
	 "sysctl kernel.perf_event_max_sample_rate=100000", FEATURE_WANTED, probe_sample_rate},
	{"stack-depth", "stack depth", "kernel stacks of 127 frames",
	 "sysctl kernel.perf_event_max_stack=127", FEATURE_WANTED, probe_stack_depth},
	{"task-registers", "user registers of a task", "user stacks where the CPU is in the kernel",
	 RIGHTS "; Linux before 5.15 has it not, there they are sought on the task's stack",
	 FEATURE_OPTIONAL, probe_task_registers},
	{"mapping-tree", "mappings of a process from BPF", "whole user stacks",
	 "boot another kernel; on this one stacks are walked by frame pointers", FEATURE_WANTED,
	 probe_mapping_tree},
	{"mapping-sequence", "count of mapping changes",
	 "remembering on a CPU what was found of a mapping",
	 "nothing to mend: older kernels are asked anew each time", FEATURE_OPTIONAL,
	 probe_mapping_sequence},
	{"cgroup-ids", "cgroups of tasks", "samples by cgroup, container and unit",
	 "mount cgroup v2 on /sys/fs/cgroup", FEATURE_OPTIONAL, probe_cgroup_ids},
	{"bpf-stats", "run time of BPF programs", "saying what a recording cost in the kernel",
	 "run as root", FEATURE_OPTIONAL, probe_bpf_stats},
	{"cycles", "CPU cycle counter", "sampling cycles, instructions, misses",
	 "nothing to mend: this machine shows no counters, as most virtual machines",
	 FEATURE_OPTIONAL, probe_cycles},
	{"branch-records", "branch records", "record -b and -j",
	 "it takes an Intel CPU, AMD Zen 4 or newer, or arm64 with BRBE, mostly outside of a "
	 "virtual machine",
	 FEATURE_OPTIONAL, probe_branch_records},
	{"branch-stack", "branch records of calls (LBR)", "--call-graph lbr",
	 "it takes an Intel CPU since Haswell, mostly outside of a virtual machine; stacks are "
	 "walked by tables without",
	 FEATURE_OPTIONAL, probe_branch_stack},
	{"branch-index", "register of the newest branch",
	 "whole stacks where they are deeper than LBR",
	 "nothing to mend: it takes an Intel CPU without Architectural LBR; else stacks are "
	 "stitched by their content, where that has one meaning",
	 FEATURE_OPTIONAL, probe_branch_index},
};

/* What is left to do for who has the capability that the row asks for. */
static const struct {
	const char *id, *remedy;
	u32 capability;
} remedies_if_capable[] = {
	{"other-processes",
	 "this user may, but a sandbox or security module (Landlock, AppArmor, SELinux) keeps them "
	 "from this process: run it outside of that",
	 CAP_SYS_PTRACE},
	{"perf-events",
	 "kernels of some distributions ask for CAP_SYS_ADMIN while kernel.perf_event_paranoid is "
	 "above 2: run with that, or: sysctl kernel.perf_event_paranoid=2",
	 CAP_PERFMON},
};

static bool has_capability(u32 capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};

	return !syscall(SYS_capget, &header, sets) &&
	       sets[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

const char *feature_remedy(const struct feature *feature)
{
	for (size_t i = 0; i < ARRAY_COUNT(remedies_if_capable); i++)
		if (!strcmp(remedies_if_capable[i].id, feature->id) &&
		    has_capability(remedies_if_capable[i].capability))
			return remedies_if_capable[i].remedy;
	return feature->remedy;
}

const struct feature *features_all(size_t *ret_count)
{
	*ret_count = ARRAY_COUNT(features);
	return features;
}

const struct feature *feature_find(const char *id)
{
	for (size_t i = 0; i < ARRAY_COUNT(features); i++)
		if (!strcmp(features[i].id, id))
			return &features[i];
	return NULL;
}

int features_require(void)
{
	for (size_t i = 0; i < ARRAY_COUNT(features); i++) {
		const struct feature *row = &features[i];
		char found[FEATURE_FOUND_BYTES] = "";
		int error = row->need == FEATURE_REQUIRED ? row->probe(found) : 0;

		if (error)
			return fail(error, feature_remedy(row), "cannot record without %s%s%s%s",
				    row->name, found[0] ? " (" : "", found, found[0] ? ")" : "");
	}
	return 0;
}
