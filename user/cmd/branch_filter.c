/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names of perf record -j.
 */
#include "cmd/branch_filter.h"

#include "base/fail.h"
#include "base/memory.h"
#include "cli/cli.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

/* Source: tools/perf/Documentation/perf-record.txt. "counter" is not there: what it records stands
 * behind the branch stack, and is no part of it. Of names that are as near to a word that is none,
 * the first is suggested. */
static const struct {
	const char *name;
	u64 bit;
} rows[] = {
	{"u", PERF_SAMPLE_BRANCH_USER},
	{"k", PERF_SAMPLE_BRANCH_KERNEL},
	{"hv", PERF_SAMPLE_BRANCH_HV},
	{"any_call", PERF_SAMPLE_BRANCH_ANY_CALL},
	{"any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN},
	{"any", PERF_SAMPLE_BRANCH_ANY},
	{"ind_call", PERF_SAMPLE_BRANCH_IND_CALL},
	{"ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP},
	{"call", PERF_SAMPLE_BRANCH_CALL},
	{"cond", PERF_SAMPLE_BRANCH_COND},
	{"abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX},
	{"in_tx", PERF_SAMPLE_BRANCH_IN_TX},
	{"no_tx", PERF_SAMPLE_BRANCH_NO_TX},
	{"stack", PERF_SAMPLE_BRANCH_CALL_STACK},
	{"no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS},
	{"no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES},
	{"save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE},
	{"hw_index", PERF_SAMPLE_BRANCH_HW_INDEX},
	{"priv", PERF_SAMPLE_BRANCH_PRIV_SAVE},
};

static int refuse_name(const char *name)
{
	const char *names[ARRAY_COUNT(rows) + 1] = {0};
	const char *near;

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		names[i] = rows[i].name;
	near = nearest_name(name, names);
	if (near)
		return fail_plain(-EINVAL, NULL, "no branches are called '%s'; did you mean %s?",
				  name, near);
	return fail_plain(-EINVAL, "`man bpfprof-record` lists them", "no branches are called '%s'",
			  name);
}

int branch_filter_parse(const char *text, u64 *ret_bits)
{
	static const u64 whose = PERF_SAMPLE_BRANCH_PLM_ALL;
	CLEANUP(freep) char *copy = must_copy(text);
	char *rest = copy;
	u64 bits = 0;

	for (const char *name; (name = strsep(&rest, ","));) {
		size_t row = 0;

		while (row < ARRAY_COUNT(rows) && strcmp(rows[row].name, name))
			row++;
		if (row == ARRAY_COUNT(rows))
			return refuse_name(name);
		bits |= rows[row].bit;
	}
	*ret_bits = bits & ~whose ? bits : bits | PERF_SAMPLE_BRANCH_ANY;
	return 0;
}
