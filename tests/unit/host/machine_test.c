/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is read about this machine, against what the system's own tools say.
 */
#include "base/memory.h"
#include "host/cpus.h"
#include "host/machine.h"
#include "unit/unit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The first line that a shell command prints, owned by the caller. */
static char *first_line(const char *command)
{
	FILE *pipe = popen(command, "re");
	char *line = NULL;
	size_t size = 0;

	assert_non_null(pipe);
	assert_true(getline(&line, &size, pipe) >= 0);
	pclose(pipe);
	line[strcspn(line, "\n")] = 0;
	return line;
}

static void names_are_those_of_uname(void **state)
{
	struct machine machine;
	struct utsname names;

	uname(&names);
	machine_read(&machine);
	assert_string_equal(machine.hostname, names.nodename);
	assert_string_equal(machine.os_release, names.release);
	assert_string_equal(machine.arch, names.machine);
	machine_release(&machine);
	(void)state;
}

static void cpus_and_memory_are_those_of_coreutils(void **state)
{
	CLEANUP(freep) char *online = first_line("getconf _NPROCESSORS_ONLN");
	CLEANUP(freep) char *memory = first_line("awk '/^MemTotal:/ {print $2}' /proc/meminfo");
	struct machine machine;

	machine_read(&machine);
	assert_int_equal(machine.cpus_online, atoi(online));
	assert_true(machine.cpus_available >= machine.cpus_online);
	assert_int_equal(machine.memory_kb, strtoull(memory, NULL, 10));
	machine_release(&machine);
	(void)state;
}

static void the_processor_is_described_as_perf_does(void **state)
{
	CLEANUP(freep)
	char *id = first_line(
		"awk -F': ' '/^vendor_id/ {v=$2} /^cpu family/ {f=$2} /^model\\t/ {m=$2}"
		" /^stepping/ {print v \",\" f \",\" m \",\" $2; exit}' /proc/cpuinfo");
	struct machine machine;

	machine_read(&machine);
	assert_true(*machine.cpu_description || strcmp(machine.arch, "x86_64") != 0);
	assert_null(strstr(machine.cpu_description, "  "));
	if (!strcmp(machine.arch, "x86_64"))
		assert_string_equal(machine.cpu_id, id);
	machine_release(&machine);
	(void)state;
}

static void every_cpu_has_a_place_and_each_list_stands_once(void **state)
{
	struct machine machine;

	machine_read(&machine);
	assert_true(machine.package_count >= 1 && machine.core_count >= machine.package_count);
	for (u32 i = 0; i < machine.core_count; i++)
		for (u32 j = 0; j < i; j++)
			assert_string_not_equal(machine.core_lists[i], machine.core_lists[j]);
	assert_true(machine.cpus[0].socket_id != ~0u);
	machine_release(&machine);
	(void)state;
}

static void online_cpus_ascend_among_those_present(void **state)
{
	u32 *cpus;
	size_t count;

	assert_int_equal(cpus_online(&cpus, &count), 0);
	assert_true(count >= 1);
	for (size_t i = 1; i < count; i++)
		assert_true(cpus[i - 1] < cpus[i]);
	assert_true(cpus[count - 1] < cpus_present());
	free(cpus);
	(void)state;
}

static void who_watches_the_cpus_is_told_once_which_there_are(void **state)
{
	struct cpus_watch *watch = cpus_watch_new();

	assert_true(cpus_watch_changed(watch));
	assert_false(cpus_watch_changed(watch));
	assert_false(cpus_watch_changed(watch));
	cpus_watch_free(watch);
	(void)state;
}

/* Other devices may change at any time: that they do for so long is unlikely. */
static void no_cpu_may_be_back_as_long_as_nothing_changes(void **state)
{
	enum { LONG = 1000 };
	struct cpus_watch *watch = cpus_watch_new();
	int tries = 0;

	if (access("/sys/kernel/uevent_seqnum", R_OK))
		skip();
	assert_true(cpus_watch_may_be_back(watch));
	while (cpus_watch_may_be_back(watch))
		assert_true(++tries < LONG);
	cpus_watch_free(watch);
	(void)state;
}

static void cpu_may_be_back_when_the_kernel_has_told_of_a_device(void **state)
{
	struct cpus_watch *watch = cpus_watch_new();
	CLEANUP(closep) int device = open("/sys/class/mem/null/uevent", O_WRONLY | O_CLOEXEC);

	cpus_watch_may_be_back(watch);
	if (device < 0 || write(device, "change", 6) != 6) {
		cpus_watch_free(watch);
		skip();
	}
	assert_true(cpus_watch_may_be_back(watch));
	cpus_watch_free(watch);
	(void)state;
}

static void who_reads_the_machine_again_gets_the_same(void **state)
{
	struct cpus_watch *watch = cpus_watch_new();
	struct machine read, machine = {0};

	machine_read(&read);
	for (int i = 0; i < 3; i++) {
		machine_renew(&machine, watch);
		assert_string_equal(machine.hostname, read.hostname);
		assert_string_equal(machine.cpu_id, read.cpu_id);
		assert_int_equal(machine.memory_kb, read.memory_kb);
		assert_int_equal(machine.cpus_available, read.cpus_available);
		assert_int_equal(machine.core_count, read.core_count);
	}
	machine_release(&machine);
	machine_release(&read);
	cpus_watch_free(watch);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_those_of_uname),
		cmocka_unit_test(cpus_and_memory_are_those_of_coreutils),
		cmocka_unit_test(the_processor_is_described_as_perf_does),
		cmocka_unit_test(every_cpu_has_a_place_and_each_list_stands_once),
		cmocka_unit_test(online_cpus_ascend_among_those_present),
		cmocka_unit_test(who_watches_the_cpus_is_told_once_which_there_are),
		cmocka_unit_test(no_cpu_may_be_back_as_long_as_nothing_changes),
		cmocka_unit_test(cpu_may_be_back_when_the_kernel_has_told_of_a_device),
		cmocka_unit_test(who_reads_the_machine_again_gets_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
