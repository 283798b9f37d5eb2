/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads uname, /proc and sysfs for what perf.data's header says about the machine.
 */
#include "host/machine.h"

#include "base/cursor.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "host/cpus.h"

#include <ctype.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { PROC_FILE_BYTES = 16 << 20, SYSFS_FILE_BYTES = 65536 };

/* Runs of white space become one space; none at the ends. In place. */
static void squeeze(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		bool is_space = isspace((unsigned char)*from);

		if (!is_space)
			*to++ = *from;
		else if (to > text && to[-1] != ' ')
			*to++ = ' ';
	}
	if (to > text && to[-1] == ' ')
		to--;
	*to = 0;
}

/* The value of the first line "key : value", owned by the caller; "" if there is none. */
static char *find_value(const char *text, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		const char *rest = line += *line == '\n';

		if (strncmp(rest, key, length) != 0)
			continue;
		rest += length;
		rest += strspn(rest, " \t");
		if (*rest != ':')
			continue;
		char *value = must_copy_bytes(rest + 1, strcspn(rest + 1, "\n"));

		squeeze(value);
		return value;
	}
	return must_copy("");
}

/* A small file of sysfs without its newline, owned by the caller; "" if it is not there. */
static char *read_sysfs(const char *path)
{
	char *text;

	if (file_read(path, SYSFS_FILE_BYTES, &text, NULL))
		return must_copy("");
	squeeze(text);
	return text;
}

static char *read_topology(u32 cpu, const char *name)
{
	CLEANUP(freep)
	char *path = must_format("/sys/devices/system/cpu/cpu%u/topology/%s", cpu, name);

	return read_sysfs(path);
}

/* ~0u where the kernel does not say (the CPU is offline), as perf writes -1. */
static u32 read_topology_id(u32 cpu, const char *name)
{
	CLEANUP(freep) char *text = read_topology(cpu, name);
	u32 id;

	return number_parse_u32(text, &id) ? ~0u : id;
}

/* Adds the CPU list that this file of one CPU holds, if no other CPU had the same. The older name
 * is for kernels before 5.3. */
static void add_list(char **lists, u32 *count, u32 cpu, const char *const names[2])
{
	CLEANUP(freep) char *list = read_topology(cpu, names[0]);

	if (!*list && names[1]) {
		free(list);
		list = read_topology(cpu, names[1]);
	}
	if (!*list)
		return;
	for (u32 i = 0; i < *count; i++)
		if (!strcmp(lists[i], list))
			return;
	lists[(*count)++] = TAKE(list);
}

static void read_topologies(struct machine *machine)
{
	static const char *const package_names[] = {"package_cpus_list", "core_siblings_list"};
	static const char *const core_names[] = {"core_cpus_list", "thread_siblings_list"};
	static const char *const die_names[] = {"die_cpus_list", NULL};
	u32 count = machine->cpus_available;

	machine->cpus = must_alloc_array(count, sizeof(*machine->cpus));
	machine->package_lists = must_alloc_array(count, sizeof(char *));
	machine->core_lists = must_alloc_array(count, sizeof(char *));
	machine->die_lists = must_alloc_array(count, sizeof(char *));
	for (u32 cpu = 0; cpu < count; cpu++) {
		machine->cpus[cpu] = (struct cpu_place){
			.core_id = read_topology_id(cpu, "core_id"),
			.socket_id = read_topology_id(cpu, "physical_package_id"),
			.die_id = read_topology_id(cpu, "die_id"),
		};
		add_list(machine->package_lists, &machine->package_count, cpu, package_names);
		add_list(machine->core_lists, &machine->core_count, cpu, core_names);
		add_list(machine->die_lists, &machine->die_count, cpu, die_names);
	}
}

/* x86: "vendor,family,model,stepping"; arm64: the identification register. */
static char *read_cpu_id(const char *cpuinfo)
{
	static const char *const keys[] = {"vendor_id", "cpu family", "model", "stepping"};
	struct text id = {0};

	for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
		CLEANUP(freep) char *value = find_value(cpuinfo, keys[i]);

		if (!*value) {
			text_release(&id);
			return read_sysfs(
				"/sys/devices/system/cpu/cpu0/regs/identification/midr_el1");
		}
		text_appendf(&id, "%s%s", i ? "," : "", value);
	}
	return text_take(&id);
}

static void read_processor(struct machine *machine)
{
	CLEANUP(freep) char *text = NULL;

	if (file_read("/proc/cpuinfo", PROC_FILE_BYTES, &text, NULL))
		text = must_copy("");
	machine->cpu_description = find_value(text, "model name");
	machine->cpu_id = read_cpu_id(text);
}

/* MemTotal of /proc/meminfo, without all that stands there besides. */
static u64 read_memory_kb(void)
{
	enum { KB = 1024 };
	struct sysinfo facts;

	return sysinfo(&facts) ? 0 : (u64)facts.totalram * facts.mem_unit / KB;
}

/* What may change at any time, and takes no more than a system call each. */
static void read_names(struct machine *machine)
{
	struct utsname names = {0};

	uname(&names);
	machine->hostname = must_copy(names.nodename);
	machine->os_release = must_copy(names.release);
	machine->arch = must_copy(names.machine);
	machine->memory_kb = read_memory_kb();
}

static void free_names(struct machine *machine)
{
	free(machine->hostname);
	free(machine->os_release);
	free(machine->arch);
}

void machine_read(struct machine *ret_machine)
{
	struct machine machine = {0};
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	read_names(&machine);
	machine.cpus_online = online > 0 ? (u32)online : 1;
	machine.cpus_available = cpus_present();
	read_processor(&machine);
	read_topologies(&machine);
	*ret_machine = machine;
}

void machine_renew(struct machine *machine, struct cpus_watch *watch)
{
	if (cpus_watch_changed(watch)) {
		machine_release(machine);
		machine_read(machine);
		return;
	}
	free_names(machine);
	read_names(machine);
}

static void free_lists(char **lists, u32 count)
{
	for (u32 i = 0; i < count; i++)
		free(lists[i]);
	free(lists);
}

void machine_release(struct machine *machine)
{
	free_names(machine);
	free(machine->cpu_description);
	free(machine->cpu_id);
	free(machine->cpus);
	free_lists(machine->package_lists, machine->package_count);
	free_lists(machine->core_lists, machine->core_count);
	free_lists(machine->die_lists, machine->die_count);
	*machine = (struct machine){0};
}
