/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What it costs to make the unwind rows of a binary: CPU time a row, the least of several rounds,
 * and bytes a row.
 *
 * usage: rows ROUNDS FILE...      a line a file; a file that cannot be read is left out and said
 *
 * The CPU time of one round is exact, but kernels split it into user and system by ticks: that
 * share is taken over all rounds.
 */
#include "unit/map_file.h"
#include "unwind/unwind.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { RULES_MAX = 1 << 16 };

struct cost {
	u64 least_ns; /* CPU time of the cheapest round */
	double user_share;
	u32 rows, pages, rules;
};

static u64 cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static int round_run(struct bytes image, struct cost *cost)
{
	CLEANUP(unwind_table_freep) struct unwind_table *table = NULL;
	u64 start = cpu_ns(), spent;
	struct rule_set rules;
	int error;

	rule_set_init(&rules);
	error = unwind_table_read(image, &rules, RULES_MAX, &table);
	spent = cpu_ns() - start;
	if (!error) {
		cost->least_ns = cost->least_ns && cost->least_ns < spent ? cost->least_ns : spent;
		cost->rows = table->row_count;
		cost->pages = table->page_count;
		cost->rules = (u32)rules.rules.count;
	}
	rule_set_release(&rules);
	return error;
}

static int measure(const char *path, int rounds, struct cost *cost)
{
	CLEANUP(file_unmap) struct bytes image = {0};
	struct rusage before, after;
	double user, system;
	int error = map_file(path, &image);

	getrusage(RUSAGE_SELF, &before);
	for (int round = 0; round < rounds && !error; round++)
		error = round_run(image, cost);
	getrusage(RUSAGE_SELF, &after);
	user = seconds(after.ru_utime) - seconds(before.ru_utime);
	system = seconds(after.ru_stime) - seconds(before.ru_stime);
	cost->user_share = user + system > 0 ? user / (user + system) : 1;
	return error;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[1]) : 0;

	if (rounds < 1)
		return 2;
	for (int i = 2; i < argc; i++) {
		struct cost cost = {0};
		int error = measure(argv[i], rounds, &cost);
		double rows;

		if (error || !cost.rows) {
			printf("  %-48s left out: %s\n", argv[i],
			       error ? strerror(-error) : "no rows");
			continue;
		}
		rows = (double)cost.rows;
		printf("  %-48s %7u rows %4u rules  %5.1f ns a row (%5.1f user)  %4.2f bytes a "
		       "row\n",
		       argv[i], cost.rows, cost.rules, (double)cost.least_ns / rows,
		       (double)cost.least_ns * cost.user_share / rows,
		       4.0 * (cost.rows + cost.pages + 4.0 * cost.rules) / rows);
	}
	return 0;
}
