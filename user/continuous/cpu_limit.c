/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One division, an account of what was spent, and what keeps it calm.
 */
#include "continuous/cpu_limit.h"

/* How much of a second's measurement of the programs is taken over. */
static const double bpf_weight = 0.2;
/* Starting is no cost of going on: in the first steps a second counts at most so many times the
 * limit, and there are taken to have been so many. Beside it, the names of all that runs already
 * are read meanwhile, which takes longer. */
static const u32 first_steps = 10, first_steps_beside = 60;
static const double first_most = 5;
/* The programs get at least so much of the limit, also where this process alone is beyond it. */
static const double bpf_least = 0.1;
/* Smaller changes are not worth an interruption of all CPUs; the rate grows at most so fast. */
static const double change_least = 0.05, growth_most = 1.5;
/* The aim lies a little below the limit, so that it is not passed half of the time. */
static const double aim = 0.98;
/* In how many seconds a difference is made up for. So many seconds' worth of the limit are
 * remembered: of what was spent too much, and of what was not spent, where a little is saved for
 * the end of windows, but not for a minute of dear samples. */
static const double settling_s = 60, most_debt_s = 60, most_saved_s = 10;

struct cpu_limit cpu_limit_of(double share, u32 wanted_hz)
{
	return (struct cpu_limit){.share = share, .wanted_hz = wanted_hz, .hz = wanted_hz};
}

bool cpu_limit_has_room(const struct cpu_limit *limit)
{
	return !limit->share || (limit->steps >= first_steps_beside &&
				 limit->hz == limit->wanted_hz && limit->left_s > 0);
}

static double within(double value, double least, double most)
{
	return value < least ? least : value > most ? most : value;
}

static double seconds(u64 ns)
{
	return (double)ns / 1e9;
}

static struct cpu_limit_spent without_start(const struct cpu_limit *limit,
					    struct cpu_limit_spent spent)
{
	u64 most_ns = (u64)(limit->share * first_most * (double)spent.wall_ns);

	if (limit->steps < first_steps && spent.own_ns > most_ns)
		spent.own_ns = most_ns;
	if (limit->steps < first_steps_beside)
		spent.else_ns = 0;
	return spent;
}

static void account(struct cpu_limit *limit, const struct cpu_limit_spent *spent)
{
	double may_s = limit->share * aim * seconds(spent->wall_ns);

	limit->left_s += may_s - seconds(spent->own_ns + spent->bpf_ns + spent->else_ns);
	limit->left_s = within(limit->left_s, -most_debt_s * limit->share,
			       most_saved_s * limit->share);
}

static void learn(struct cpu_limit *limit, const struct cpu_limit_spent *spent)
{
	double wall = (double)spent->wall_ns;
	double own = (double)spent->own_ns / wall;
	double bpf = (double)spent->bpf_ns / wall / limit->hz;

	limit->own[limit->steps++ % CPU_LIMIT_OWN_STEPS] = (float)own;
	limit->bpf_per_hz += (bpf - limit->bpf_per_hz) * bpf_weight;
}

/* The mean of whole minutes: what a window costs at its end is in it twice, at any time. */
static double own_share(const struct cpu_limit *limit)
{
	u32 steps = limit->steps < CPU_LIMIT_OWN_STEPS ? limit->steps : CPU_LIMIT_OWN_STEPS;
	double sum = 0;

	for (u32 i = 0; i < steps; i++)
		sum += (double)limit->own[i];
	return sum / (steps > first_steps ? steps : first_steps);
}

u32 cpu_limit_step(struct cpu_limit *limit, const struct cpu_limit_spent *spent)
{
	struct cpu_limit_spent counted;
	double left, hz;

	if (!limit->share) {
		limit->hz = limit->wanted_hz;
		limit->left_s = 0;
	}
	if (!limit->share || !spent->wall_ns)
		return limit->hz;
	counted = without_start(limit, *spent);
	account(limit, &counted);
	learn(limit, &counted);
	left = limit->share * aim - own_share(limit) + limit->left_s / settling_s;
	left = within(left, limit->share * bpf_least, limit->share);
	hz = limit->bpf_per_hz > 0 ? left / limit->bpf_per_hz : limit->wanted_hz;
	hz = within(hz, 1, growth_most * limit->hz + 1);
	hz = within(hz, 1, limit->wanted_hz);
	if (hz < limit->wanted_hz && hz > limit->hz * (1 - change_least) &&
	    hz < limit->hz * (1 + change_least))
		return limit->hz;
	limit->hz = (u32)(hz + 0.5);
	return limit->hz;
}
