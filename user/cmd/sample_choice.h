/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which samples of a recording are wanted: --pid, --tid, --cpu, --time as perf takes them;
 * --cgroup,
 * --container, --unit.
 */
#ifndef CMD_SAMPLE_CHOICE_H
#define CMD_SAMPLE_CHOICE_H

#include "cmd/cgroup_choice.h"
#include "cmd/option_rows.h"
#include "event/event.h"
#include "perfdata/perfdata.h"

/* The arguments as typed; NULL: not given. */
struct sample_choice {
	const char *pids, *tids, *cpus, *times;
	struct cgroup_choice cgroups;
};

/* Rows of options, for a settings struct that has a member `choice`. */
#define CGROUP_ROWS(choice)                                                               \
	TEXT(0, "cgroup", choice.cgroups.paths, "LIST",                                   \
	     "only what ran in these cgroups or below them"),                             \
		TEXT(0, "container", choice.cgroups.containers, "LIST",                   \
		     "only what ran in these containers: ids, names, or what they begin " \
		     "with"),                                                             \
		TEXT(0, "unit", choice.cgroups.units, "LIST",                             \
		     "only what ran in these units of systemd; nginx is nginx.service")

/* The same as lists; owns what `settings` refers to. */
struct chosen_samples {
	struct filter_settings settings;
	u32 *pids, *tids, *cpus;
	struct time_range *times;
	struct cgroup_choice *cgroups;
};

/*
 * Reads the arguments for one recording.
 *
 * --time "START,STOP" (either may be empty) in seconds, several with spaces between them, or parts
 * of the recording: "10%-20%,40%-50%", "10%/2" (the second tenth) or "10%" (the first).
 * first_ns, last_ns  times of the recording's first and last sample; 0: unknown
 * ret_chosen         release with chosen_samples_release()
 * Returns 0 or -EINVAL with a sentence.
 */
int sample_choice_read(const struct sample_choice *choice, u64 first_ns, u64 last_ns,
		       struct chosen_samples *ret_chosen);
/* Whether a recording says what is chosen by: cgroups are not always recorded. Returns 0 or -EINVAL
 * with a sentence. */
int sample_choice_check(const struct sample_choice *choice, const struct perfdata *data);
/* Frees the lists. For CLEANUP too. */
void chosen_samples_release(struct chosen_samples *chosen);

#endif
