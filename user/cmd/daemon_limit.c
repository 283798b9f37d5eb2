/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --max-cpu: what sampling costs, and the rate.
 */
#include "base/clock.h"
#include "base/fail.h"
#include "cmd/daemon.h"
#include "cmd/daemon_sums.h"

static const u64 interval_ns = 1000000000;

/* What sums may take of the limit. */
static const double sums_part = 0.25;

void daemon_limit_change(struct daemon *daemon)
{
	daemon->limit.share = daemon->session->settings.max_cpu_percent / 100;
	daemon_sums_limit(daemon->sums, daemon->limit.share * sums_part);
}

void daemon_limit_cpu(struct daemon *daemon)
{
	daemon->limit = cpu_limit_of(0, daemon->session->plan.frequency_hz);
	daemon_limit_change(daemon);
	daemon->limit_spent = daemon_spending(daemon);
	daemon->limit_clock_ns = clock_ns(CLOCK_MONOTONIC);
	daemon->lowest_hz = daemon->limit.hz;
}

/* Each time that it leaves the wanted rate or comes back to it, and not each step between. */
static void tell(const struct daemon *daemon, u32 before_hz)
{
	const struct cpu_limit *limit = &daemon->limit;

	if (before_hz == limit->wanted_hz)
		daemon_log(LOG_LEVEL_WARNING,
			   "sampling at %u Hz or less from now on, to stay below %.2f%% of one CPU",
			   limit->hz, 100 * limit->share);
	else if (limit->hz == limit->wanted_hz)
		daemon_log(LOG_LEVEL_INFO, "sampling at %u Hz again", limit->hz);
}

static void change_rate(struct daemon *daemon, u32 before_hz)
{
	if (capture_set_rate(daemon->session->capture, daemon->limit.hz)) {
		daemon_log(LOG_LEVEL_WARNING, "--max-cpu cannot be held: %s", fail_sentence());
		daemon->cannot_change_rate = true;
		return;
	}
	if (daemon->limit.hz < daemon->lowest_hz)
		daemon->lowest_hz = daemon->limit.hz;
	tell(daemon, before_hz);
}

void daemon_hold_limit(struct daemon *daemon, u64 clock_ns)
{
	struct cpu_limit_spent since = {.wall_ns = clock_ns - daemon->limit_clock_ns};
	u32 before_hz = daemon->limit.hz;
	struct spending now;

	if (since.wall_ns < interval_ns || daemon->cannot_change_rate)
		return;
	now = daemon_spending(daemon);
	since.own_ns = now.here_ns - daemon->limit_spent.here_ns;
	since.else_ns = now.own_ns - daemon->limit_spent.own_ns;
	/* both clocks are not read at the same moment */
	since.else_ns -= since.else_ns < since.own_ns ? since.else_ns : since.own_ns;
	since.bpf_ns = now.bpf_ns - daemon->limit_spent.bpf_ns;
	daemon->limit_spent = now;
	daemon->limit_clock_ns = clock_ns;
	if (cpu_limit_step(&daemon->limit, &since) != before_hz)
		change_rate(daemon, before_hz);
}
