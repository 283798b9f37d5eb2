/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One division, and what keeps it calm.
 */
#include "continuous/cpu_limit.h"

/* How much of a second's measurement is taken over: of the programs, and of this process, which
 * works for its windows once a minute: that goes over five. It begins with ten seconds, or what
 * it costs would be believed to be next to nothing until then. */
static const double bpf_weight = 0.2;
static const u32 own_seconds = 300, own_seconds_first = 10;
/* Starting is no cost of going on: until then a second counts at most so many times the limit. */
static const double first_most = 5;
/* The programs get at least so much of the limit, also where this process alone is beyond it. */
static const double bpf_least = 0.1;
/* Smaller changes are not worth an interruption of all CPUs; the rate grows at most so fast. */
static const double change_least = 0.05, growth_most = 1.5;
/* The aim lies a little below the limit, so that it is not passed half of the time. */
static const double aim = 0.95;

struct cpu_limit cpu_limit_of(double share, u32 wanted_hz)
{
	return (struct cpu_limit){.share = share, .wanted_hz = wanted_hz, .hz = wanted_hz};
}

static void learn(struct cpu_limit *limit, const struct cpu_limit_spent *spent)
{
	double wall = (double)spent->wall_ns;
	double own = (double)spent->own_ns / wall;
	double bpf = (double)spent->bpf_ns / wall / limit->hz;
	u32 seconds = own_seconds_first + limit->steps;

	if (limit->steps < own_seconds_first && own > limit->share * first_most)
		own = limit->share * first_most;
	if (seconds > own_seconds)
		seconds = own_seconds;
	limit->own += (own - limit->own) / seconds;
	limit->steps += limit->steps < own_seconds;
	limit->bpf_per_hz += (bpf - limit->bpf_per_hz) * bpf_weight;
}

static double within(double value, double least, double most)
{
	return value < least ? least : value > most ? most : value;
}

u32 cpu_limit_step(struct cpu_limit *limit, const struct cpu_limit_spent *spent)
{
	double left, hz;

	if (!limit->share)
		limit->hz = limit->wanted_hz;
	if (!limit->share || !spent->wall_ns)
		return limit->hz;
	learn(limit, spent);
	left = within(limit->share * aim - limit->own, limit->share * bpf_least, limit->share);
	hz = limit->bpf_per_hz > 0 ? left / limit->bpf_per_hz : limit->wanted_hz;
	hz = within(hz, 1, growth_most * limit->hz + 1);
	hz = within(hz, 1, limit->wanted_hz);
	if (hz < limit->wanted_hz && hz > limit->hz * (1 - change_least) &&
	    hz < limit->hz * (1 + change_least))
		return limit->hz;
	limit->hz = (u32)hz;
	return limit->hz;
}
