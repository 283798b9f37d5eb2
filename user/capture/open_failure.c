/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What stands behind a refusal of the kernel, as far as it can be told from its error.
 */
#include "capture/open_failure.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/vec.h"
#include "capture/perf_open.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>

/* Whether the event could be opened if it did not ask for branch stacks: says so then. */
static bool is_for_branches(int error, const struct perf_event_attr *wanted, const char *name,
			    u32 cpu)
{
	bool is_of_calls = wanted->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
	struct perf_event_attr attr = *wanted;
	CLEANUP(closep) int fd = -1;

	if (!attr.branch_sample_type)
		return false;
	attr.sample_type &= ~(u64)PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = 0;
	fd = perf_open_cpu(&attr, cpu);
	if (fd < 0)
		return false;
	fail_plain(error,
		   is_of_calls ? "use --call-graph auto"
			       : "`bpfprof check` says whether this CPU records branches",
		   "cannot take %s with %s: the kernel has none for this event",
		   is_of_calls ? "call stacks of the CPU (LBR)" : "branch stacks of this kind",
		   name);
	return true;
}

int open_failure_tell(int error, const struct perf_event_attr *wanted, const char *name, u32 cpu)
{
	static const struct {
		int error;
		const char *why, *remedy;
	} rows[] = {
		{-EACCES, NULL, "run as root, or with CAP_PERFMON"},
		{-EPERM, NULL, "run as root, or with CAP_PERFMON"},
		{-ENOENT, "this machine does not count it",
		 "use -e cpu-clock; `bpfprof check` lists what there is"},
		{-EOPNOTSUPP, "this machine's counter cannot sample it this way",
		 "leave out :p modifiers, or use -e cpu-clock"},
		{-EMFILE, NULL, "raise `ulimit -n`"},
		{-ENFILE, NULL, "raise sysctl fs.file-max"},
		{-EBUSY, "the counter is in use", "stop the other profiler"},
		{-EINVAL, "the kernel refuses its settings",
		 "try it without modifiers, or use -e cpu-clock"},
	};

	if (is_for_branches(error, wanted, name, cpu))
		return error;
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		if (rows[i].error != error)
			continue;
		if (rows[i].why)
			return fail_plain(error, rows[i].remedy, "cannot sample %s on CPU %u: %s",
					  name, cpu, rows[i].why);
		return fail(error, rows[i].remedy, "cannot sample %s on CPU %u", name, cpu);
	}
	return fail(error, NULL, "cannot sample %s on CPU %u", name, cpu);
}
