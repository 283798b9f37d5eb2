/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds out what this kernel and this user may do, by doing it.
 */
#include "capture/feature_probes.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "bpfprof/types.h"
#include "capture/branch_caps.h"
#include "capture/perf_open.h"
#include "host/host.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

enum {
	SYSCTL_BYTES = 4096,
	DEFAULT_RATE_HZ = 99,
	DEFAULT_STACK_FRAMES = 127,
	LARGE_RING_BYTES = 8 << 20,
};

static void say(char *found, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(char *found, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(found, FEATURE_FOUND_BYTES, format, arguments);
	va_end(arguments);
}

static u32 first_cpu(void)
{
	CLEANUP(freep) u32 *cpus = NULL;
	size_t count;

	return cpus_online(&cpus, &count) || count == 0 ? 0 : cpus[0];
}

/* Opens the event for all tasks of one CPU, stopped. Returns the descriptor or a negative errno. */
static int open_event(struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	attr->disabled = 1;
	return perf_open_cpu(attr, first_cpu());
}

static int open_clock(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = DEFAULT_RATE_HZ,
	};

	return open_event(&attr);
}

static int load_program(enum bpf_prog_type type, const struct bpf_insn *instructions, size_t count)
{
	int fd = bpf_prog_load(type, NULL, "GPL", instructions, count, NULL);

	return fd < 0 ? -errno : fd;
}

/* r0 = 0; exit */
#define RETURN_ZERO                                                  \
	{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0}, \
	{                                                            \
		.code = BPF_JMP | BPF_EXIT                           \
	}

static int load_empty_program(enum bpf_prog_type type)
{
	static const struct bpf_insn instructions[] = {RETURN_ZERO};

	return load_program(type, instructions, ARRAY_COUNT(instructions));
}

int probe_btf(char *found)
{
	struct stat status;

	if (!stat("/sys/kernel/btf/vmlinux", &status)) {
		char size[NUMBER_TEXT_BYTES];

		say(found, "/sys/kernel/btf/vmlinux, %s",
		    number_format_bytes((u64)status.st_size, size));
		return 0;
	}
	/* libbpf also looks for kernel images with BTF in /boot and /lib/modules. */
	libbpf_print_fn_t printer = libbpf_set_print(NULL);
	struct btf *btf = btf__load_vmlinux_btf();

	libbpf_set_print(printer);
	if (!btf)
		return -ENOENT;
	btf__free(btf);
	say(found, "from a kernel image");
	return 0;
}

int probe_perf_events(char *found)
{
	CLEANUP(closep) int fd = open_clock();
	long paranoid;

	if (!sysctl_read("kernel/perf_event_paranoid", &paranoid))
		say(found, "kernel.perf_event_paranoid=%ld", paranoid);
	return fd < 0 ? fd : 0;
}

static int make_ring(u32 bytes)
{
	CLEANUP(closep) int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "probe", 0, 0, bytes, NULL);

	return fd < 0 ? -errno : 0;
}

int probe_ring_buffer(char *found)
{
	(void)found;
	return make_ring((u32)getpagesize());
}

int probe_perf_program(char *found)
{
	CLEANUP(closep) int program = load_empty_program(BPF_PROG_TYPE_PERF_EVENT);
	CLEANUP(closep) int event = program < 0 ? -1 : open_clock();

	if (program < 0)
		return program;
	if (event < 0)
		return event;
	if (ioctl(event, PERF_EVENT_IOC_SET_BPF, program)) {
		say(found, "loads, but does not attach");
		return -errno;
	}
	say(found, "loads and attaches");
	return 0;
}

/* The mode between brackets of "none [integrity] confidentiality". */
static void say_lockdown(char *found)
{
	CLEANUP(freep) char *text = NULL;
	char *start;

	if (file_read("/sys/kernel/security/lockdown", SYSCTL_BYTES, &text, NULL))
		return;
	start = strchr(text, '[');
	if (start && strchr(start, ']')) {
		*strchr(start, ']') = 0;
		say(found, "lockdown=%s", start + 1);
	}
}

int probe_read_kernel(char *found)
{
	/* probe_read_kernel(r10 - 8, 8, 0) */
	static const struct bpf_insn instructions[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel},
		RETURN_ZERO,
	};
	CLEANUP(closep)
	int program = load_program(BPF_PROG_TYPE_PERF_EVENT, instructions,
				   ARRAY_COUNT(instructions));

	say_lockdown(found);
	return program < 0 ? program : 0;
}

int probe_task_registers(char *found)
{
	/* task_pt_regs(get_current_task_btf()) */
	static const struct bpf_insn instructions[] = {
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_task_btf},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_task_pt_regs},
		RETURN_ZERO,
	};
	CLEANUP(closep)
	int program = load_program(BPF_PROG_TYPE_PERF_EVENT, instructions,
				   ARRAY_COUNT(instructions));

	(void)found;
	return program < 0 ? program : 0;
}

int probe_raw_tracepoint(char *found)
{
	CLEANUP(closep) int program = load_empty_program(BPF_PROG_TYPE_RAW_TRACEPOINT);
	CLEANUP(closep) int link = -1;

	(void)found;
	if (program < 0)
		return program;
	link = bpf_raw_tracepoint_open("sched_process_fork", program);
	return link < 0 ? -errno : 0;
}

int probe_kernel_symbols(char *found)
{
	CLEANUP(fclosep) FILE *kallsyms = fopen("/proc/kallsyms", "re");
	unsigned long long address = 0;
	long restricted;

	if (!sysctl_read("kernel/kptr_restrict", &restricted))
		say(found, "kernel.kptr_restrict=%ld", restricted);
	if (!kallsyms)
		return -errno;
	/* The first symbols of x86 are per-CPU offsets, 0 also for root: look at some more. */
	for (int line = 0; !address && line < 1000; line++)
		if (fscanf(kallsyms, "%llx%*[^\n]", &address) != 1)
			return -ENODATA;
	return address ? 0 : -EACCES;
}

int probe_bpf_symbols(char *found)
{
	long enabled;
	int error = sysctl_read("net/core/bpf_jit_kallsyms", &enabled);

	if (error)
		return error;
	say(found, "net.core.bpf_jit_kallsyms=%ld", enabled);
	return enabled ? 0 : -ENODATA;
}

/* Whether the mappings of this process can be read; true too if it has ended. */
static bool is_readable(const char *pid)
{
	CLEANUP(freep) char *path = must_format("/proc/%s/maps", pid);
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char byte;

	/* Some kernels check when it is opened, some when it is read. */
	return (fd >= 0 && read(fd, &byte, 1) >= 0) || (errno != EACCES && errno != EPERM);
}

int probe_other_processes(char *found)
{
	CLEANUP(closedirp) DIR *proc = opendir("/proc");
	const struct dirent *entry;
	u32 pid, processes = 0, hidden = 0;

	while (proc && (entry = readdir(proc))) {
		if (number_parse_u32(entry->d_name, &pid))
			continue;
		processes++;
		hidden += !is_readable(entry->d_name);
	}
	say(found, "%u of %u can be read", processes - hidden, processes);
	return hidden ? -EACCES : 0;
}

static int open_cycles(u64 branch_bits)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.freq = 1,
		.sample_freq = DEFAULT_RATE_HZ,
		.sample_type = branch_bits ? PERF_SAMPLE_BRANCH_STACK : 0,
		.branch_sample_type = branch_bits,
	};

	return open_event(&attr);
}

int probe_cycles(char *found)
{
	CLEANUP(closep) int fd = open_cycles(0);

	say(found, fd < 0 ? "cpu-clock is sampled instead" : "cycles");
	return fd < 0 ? fd : 0;
}

int probe_branch_records(char *found)
{
	CLEANUP(closep) int fd = open_cycles(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY);

	(void)found;
	return fd < 0 ? fd : 0;
}

int probe_branch_stack(char *found)
{
	CLEANUP(closep)
	int fd = open_cycles(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK);
	u32 depth = branch_caps_depth("/sys", PERF_TYPE_HARDWARE);

	if (fd < 0)
		return fd;
	if (depth)
		say(found, "%u entries", depth);
	return 0;
}

/* Whether the CPU has Architectural LBR: its records are a list, not a ring of registers. */
static bool has_architectural_lbr(void)
{
	CLEANUP(fclosep) FILE *cpus = fopen("/proc/cpuinfo", "re");
	char word[64];

	while (cpus && fscanf(cpus, "%63s", word) == 1)
		if (!strcmp(word, "arch_lbr"))
			return true;
	return false;
}

int probe_branch_index(char *found)
{
	static const char *const members[] = {"hw_idx", NULL};
	CLEANUP(closep)
	int fd = open_cycles(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
			     PERF_SAMPLE_BRANCH_HW_INDEX);

	if (fd < 0)
		return fd;
	if (probe_members("perf_branch_stack", members) < 0) {
		say(found, "not in the kernel's BTF");
		return -EOPNOTSUPP;
	}
	if (has_architectural_lbr()) {
		say(found, "Architectural LBR");
		return -EOPNOTSUPP;
	}
	return 0;
}

int probe_bpf_stats(char *found)
{
	CLEANUP(closep) int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

	(void)found;
	return fd < 0 ? -errno : 0;
}

int probe_memlock(char *found)
{
	char size[NUMBER_TEXT_BYTES];

	say(found, "%s of maps", number_format_bytes(LARGE_RING_BYTES, size));
	return make_ring(LARGE_RING_BYTES);
}

/* A sysctl that must be at least `wanted`. */
static int probe_limit(const char *name, long wanted, const char *unit, char *found)
{
	long limit;
	int error = sysctl_read(name, &limit);

	if (error)
		return error;
	say(found, "up to %ld %s", limit, unit);
	return limit < wanted ? -ERANGE : 0;
}

int probe_sample_rate(char *found)
{
	return probe_limit("kernel/perf_event_max_sample_rate", DEFAULT_RATE_HZ, "Hz", found);
}

int probe_stack_depth(char *found)
{
	return probe_limit("kernel/perf_event_max_stack", DEFAULT_STACK_FRAMES, "frames", found);
}

/* r0 = bpf_get_current_cgroup_id() */
static int probe_cgroup_helper(void)
{
	static const struct bpf_insn instructions[] = {
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_cgroup_id},
		RETURN_ZERO,
	};
	CLEANUP(closep)
	int fd = load_program(BPF_PROG_TYPE_PERF_EVENT, instructions, ARRAY_COUNT(instructions));

	return fd < 0 ? fd : 0;
}

int probe_cgroup_ids(char *found)
{
	CLEANUP(freep) char *folder = NULL;
	enum cgroup_tree tree = cgroup_tree_find(&folder);

	if (tree == CGROUP_TREE_NONE)
		return -ENOENT;
	say(found, "%s at %s", tree == CGROUP_TREE_V2 ? "v2" : "v1 of perf_event", folder);
	return tree == CGROUP_TREE_V2 ? probe_cgroup_helper() : 0;
}
