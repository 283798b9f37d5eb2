/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Filters in words, and the labels of samples against those that are asked of lines.
 */
#include "cmd/windows_found.h"

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

/* "of unit nginx and process 4242"; "" if all are wanted. Owned by the caller. */
static char *words_of(const struct wanted_samples *wanted)
{
	const struct sample_choice *choice = wanted->choice;
	const struct filter_settings *chosen = wanted->chosen;
	const struct {
		const char *what, *list;
	} filters[] = {
		{"cgroup", choice->cgroups.paths},
		{"container", choice->cgroups.containers},
		{"unit", choice->cgroups.units},
		{"command", wanted->comms},
		{"process", chosen->pid_count ? choice->pids : NULL},
		{"thread", chosen->tid_count ? choice->tids : NULL},
		{"CPU", chosen->cpu_count ? choice->cpus : NULL},
	};
	struct text words = {0};

	for (size_t i = 0; i < ARRAY_COUNT(filters); i++)
		if (filters[i].list)
			text_appendf(&words, "%s %s %s", words.length ? " and" : " of",
				     filters[i].what, filters[i].list);
	return text_take(&words);
}

int windows_refuse_empty(const struct wanted_samples *wanted, size_t windows)
{
	CLEANUP(freep) char *words = words_of(wanted);
	CLEANUP(freep)
	char *which = windows == 1 ? must_copy("this window")
				   : must_format("these %zu windows", windows);

	return fail_plain(-ENODATA, *words ? NULL : "ask for a longer time", "no samples%s in %s",
			  words, which);
}

static bool has_number(const u32 *numbers, size_t count, u32 number)
{
	size_t i = 0;

	while (i < count && numbers[i] != number)
		i++;
	return !count || i < count;
}

static bool has_name(const struct name_list *names, const char *name)
{
	size_t i = 0;

	while (names && i < names->count && strcmp(names->items[i], name) != 0)
		i++;
	return !names || !names->count || i < names->count;
}

int windows_check_found(const struct wanted_samples *wanted, const struct profile *profile,
			size_t windows)
{
	const struct filter_settings *chosen = wanted->chosen;

	for (size_t i = 0; i < profile->counts.count; i++) {
		const struct label_row *labels =
			&profile->labels.items[profile->counts.items[i].labels];

		if (has_number(chosen->pids, chosen->pid_count, labels->pid) &&
		    has_number(chosen->tids, chosen->tid_count, labels->tid) &&
		    has_name(wanted->comm_names, profile_text(profile, labels->comm)))
			return 0;
	}
	return windows_refuse_empty(wanted, windows);
}
