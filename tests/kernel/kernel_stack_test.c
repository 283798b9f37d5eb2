/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel stacks that we walk are those that the kernel walks, frame by frame; and where its
 * tables do not mean what we think, that is found out before a frame comes out of it.
 */
#include "bpfprof/counters.h"
#include "bpfprof/event.h"
#include "host/host.h"
#include "kernel/made_up_rules.h"
#include "kernel/permission.h"
#include "unit/unit.h"

#include "kernel_stack.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	ENOUGH = 200,
	FREQUENCY = 1999,
	MAX_STACK = 127,
	PAGES = 64,
	PAGE_BYTES = 4096,
	CPUS_MAX = 1024,
	ORC_NUMBERS_FOREIGN = 3, /* bpf/kernel_rules.bpf.h */
};

/* Writes to a disk, if /var/tmp is on one: file systems have functions that align their stack by
 * hand, and what the disk says comes on the interrupts' stack. */
static void write_to_disk(const char *bytes, size_t count)
{
	int fd = open("/var/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	if (write(fd, bytes, count) > 0) /* a full disk is none of ours */
		fdatasync(fd);
	close(fd);
}

/* Enters the kernel in several ways: calls, faults, a process that begins and ends. */
static void work(void)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	char *memory = mmap(NULL, (size_t)PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char text[4096];
	pid_t pid;

	assert_true(fd >= 0 && zeros >= 0 && memory != MAP_FAILED);
	while (read(fd, text, sizeof(text)) > 0)
		;
	close(fd);
	for (int i = 0; i < PAGES; i++)
		memory[(size_t)i * PAGE_BYTES] = 1;
	/* The kernel meets missing pages itself. */
	assert_int_equal(madvise(memory, (size_t)PAGES * PAGE_BYTES, MADV_DONTNEED), 0);
	assert_int_equal(pread(zeros, memory, (size_t)PAGES * PAGE_BYTES, 0), PAGES * PAGE_BYTES);
	close(zeros);
	write_to_disk(memory, (size_t)PAGES * PAGE_BYTES);
	pid = fork();
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	munmap(memory, (size_t)PAGES * PAGE_BYTES);
}

static struct kernel_stack_bpf *load(struct kernel_rules rules)
{
	struct kernel_stack_bpf *skeleton = kernel_stack_bpf__open();
	u32 cpus = (u32)libbpf_num_possible_cpus();

	assert_non_null(skeleton);
	skeleton->rodata->settings = (struct program_settings){
		.max_stack = MAX_STACK, .kernel_max_stack = MAX_STACK, .kernel_rules = rules};
	skeleton->rodata->own_pid = (u32)getpid();
	bpf_map__set_max_entries(skeleton->maps.counters, cpus);
	assert_int_equal(kernel_stack_bpf__load(skeleton), 0);
	return skeleton;
}

/* Attaches the program to a clock of every CPU that is there. */
static u32 attach(struct kernel_stack_bpf *skeleton, struct bpf_link **links)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .sample_freq = FREQUENCY,
				       .freq = 1};
	u32 count = 0;

	for (int cpu = 0; cpu < libbpf_num_possible_cpus() && count < CPUS_MAX; cpu++) {
		int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
				      PERF_FLAG_FD_CLOEXEC);

		if (fd < 0) /* not online */
			continue;
		links[count] = bpf_program__attach_perf_event(skeleton->progs.compare, fd);
		assert_non_null(links[count]);
		count++;
	}
	return count;
}

static u64 counted(const struct kernel_stack_bpf *skeleton, u32 counter)
{
	struct cpu_counters counters;
	u64 sum = 0;

	for (u32 cpu = 0; cpu < (u32)libbpf_num_possible_cpus(); cpu++) {
		assert_int_equal(
			bpf_map_lookup_elem(bpf_map__fd(skeleton->maps.counters), &cpu, &counters),
			0);
		sum += counters.counts[counter];
	}
	return sum;
}

/* Works until `wanted` stacks were taken. */
static void take_stacks(struct kernel_stack_bpf *skeleton, u64 wanted)
{
	static struct bpf_link *links[CPUS_MAX];
	u32 count = attach(skeleton, links);

	assert_true(count > 0);
	while (skeleton->bss->seen < wanted)
		work();
	for (u32 i = 0; i < count; i++)
		bpf_link__destroy(links[i]);
	print_message("%llu of %llu walked, %llu different\n",
		      (unsigned long long)skeleton->bss->walked,
		      (unsigned long long)skeleton->bss->seen,
		      (unsigned long long)skeleton->bss->different);
}

static struct kernel_rules rules_here(void)
{
	struct kernel_rules rules;

	skip_without_permission();
	rules = kernel_rules_here();
	if (!rules.count) {
		print_message("another architecture or unwinder, or addresses are hidden\n");
		skip();
	}
	return rules;
}

/* Up to Linux 7.3 every kernel's tables are of a form that we know. */
static bool is_newer_than_known(void)
{
	struct utsname name;
	char *rest;
	long major, minor;

	assert_int_equal(uname(&name), 0);
	major = strtol(name.release, &rest, 10);
	minor = strtol(rest + 1, NULL, 10);
	return major > 7 || (major == 7 && minor > 3);
}

static void stacks_are_the_kernels(void **state)
{
	struct kernel_stack_bpf *skeleton = load(rules_here());
	bool is_foreign;

	(void)state;
	take_stacks(skeleton, ENOUGH);
	assert_int_equal(skeleton->bss->different, 0);
	assert_int_equal(counted(skeleton, COUNTER_kernel_rules_wrong), 0);
	assert_int_equal(skeleton->bss->kernel_rules_off, 0);
	is_foreign = skeleton->bss->orc_numbers == ORC_NUMBERS_FOREIGN && is_newer_than_known();
	/* What interrupts the kernel, and tracers, have the rest left to it. */
	assert_true(is_foreign || skeleton->bss->walked > skeleton->bss->seen / 4);
	kernel_stack_bpf__destroy(skeleton);
	if (is_foreign) {
		print_message("the kernel's tables are of a form that we do not know\n");
		skip();
	}
}

/* What is found by them is not taken, and never asked for again. */
static void wrong_rules_are_found_out(void **state)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);
	struct kernel_rules rules = rules_here();
	struct kernel_stack_bpf *maker = load((struct kernel_rules){0});
	struct kernel_stack_bpf *skeleton;
	u64 cpus = (u64)libbpf_num_possible_cpus();

	(void)state;
	assert_int_equal(
		bpf_prog_test_run_opts(bpf_program__fd(maker->progs.make_up_rules), &options), 0);
	rules.addresses = maker->bss->made_up_at + offsetof(struct made_up_rules, addresses);
	rules.entries = maker->bss->made_up_at + offsetof(struct made_up_rules, entries);
	rules.count = MADE_UP_RULES;
	skeleton = load(rules);
	take_stacks(skeleton, ENOUGH);
	assert_int_equal(skeleton->bss->kernel_rules_off, 1);
	assert_in_range(counted(skeleton, COUNTER_kernel_rules_wrong), 1, cpus);
	assert_in_range(skeleton->bss->walked, 1, cpus);
	assert_int_equal(skeleton->bss->different, 0);
	kernel_stack_bpf__destroy(skeleton);
	kernel_stack_bpf__destroy(maker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_are_the_kernels),
		cmocka_unit_test(wrong_rules_are_found_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
