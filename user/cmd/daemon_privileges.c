/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the daemon may do once it samples. The manual has the same list, with the reasons.
 */
#include "base/fail.h"
#include "capture/capture.h"
#include "cmd/daemon.h"
#include "cmd/daemon_metrics.h"
#include "cmd/daemon_push.h"
#include "host/host.h"

#include <linux/capability.h>

/* Not in the headers of every C library. Source: include/uapi/linux/capability.h, Linux 5.9. */
enum { RESTORE_CAPABILITY = 40 };

/*
 * BPF, PERFMON: answers to the programs, until Linux 5.19; programs and events of new settings; the
 * kernel's memory, from which addresses of processes are told.
 * SYS_PTRACE, CHECKPOINT_RESTORE: what others have mapped, also if it was deleted, and their roots.
 * DAC_READ_SEARCH: binaries that not everybody may read.
 * SYSLOG: addresses of kernel functions.
 */
static const u64 kept = CAPABILITY_BIT(CAP_BPF) | CAPABILITY_BIT(CAP_PERFMON) |
			CAPABILITY_BIT(CAP_SYS_PTRACE) | CAPABILITY_BIT(RESTORE_CAPABILITY) |
			CAPABILITY_BIT(CAP_DAC_READ_SEARCH) | CAPABILITY_BIT(CAP_SYSLOG);

static bool can_open_events(void)
{
	char found[FEATURE_FOUND_BYTES] = "";

	return !feature_find("perf-events")->probe(found);
}

/* New settings and CPUs that come take new events. Above kernel.perf_event_paranoid=2, which only
 * kernels of some distributions know, some of them open none without SYS_ADMIN. */
static u64 needed(void)
{
	const u64 more = kept | CAPABILITY_BIT(CAP_SYS_ADMIN);

	if (privileges_suffice(kept, can_open_events) || !privileges_suffice(more, can_open_events))
		return kept;
	daemon_log(LOG_LEVEL_WARNING,
		   "CAP_SYS_ADMIN is kept, too: this kernel opens no events without it while "
		   "kernel.perf_event_paranoid is above 2; to spare it: sysctl "
		   "kernel.perf_event_paranoid=2, and start the daemon again");
	return more;
}

int daemon_give_up_privileges(struct daemon *daemon)
{
	int error = privileges_keep(needed());
	u32 calls = CALLS_CAPTURE;

	daemon->may_connect = daemon_push_is_wanted(daemon) || daemon_metrics_is_wanted(daemon);
	if (daemon->may_connect)
		calls |= CALLS_NETWORK;
	if (error || !privileges_limit_calls(calls))
		return error;
	daemon->may_connect = true;
	daemon_log(LOG_LEVEL_WARNING, "%s; going on with all of them", fail_sentence());
	return 0;
}
