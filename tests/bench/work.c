/* CFLAGS: -O2 -g -fno-omit-frame-pointer */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Works at the bottom of a stack of known depth and measures what samples cost it.
 *
 * The loop reads the clock again and again; where two readings lie further apart than a turn takes,
 * something else had the CPU: a gap. A sampling timer fires on the beat of its rate, which nothing
 * else on the machine keeps: gaps are folded by that beat, and the place in it where most of them
 * begin is where the samples are taken. What else interrupts (the scheduler's tick, devices) is
 * spread over the beat evenly and so hardly counted. A gap in which another thread ran is left out,
 * and so is one of more than GAP_MAX_NS, in which the machine below took the CPU away.
 *
 * usage: work DEPTH MILLISECONDS [RATES [kernel]]
 *
 *   DEPTH   frames above the loop
 *   RATES   samples a second that recorders take, "99,101": each by its beat
 *   kernel  works by system calls, so that most samples find a kernel stack, too
 *
 * Stay on one CPU (taskset): it is the samples of one that keep a beat. Prints a line a
 * rate: median and mean ns that a sample takes, how many were found and how many there should be.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
	GAP_MIN_NS = 1000, /* more than a turn takes, less than any interrupt */
	GAP_MAX_NS = 200000,
	GAPS_MAX = 1 << 20,
	READ_BYTES = 4096,
	BIN_NS = 4000,	 /* a timer is as late as this from one beat to the next */
	AFTER_NS = 4000, /* a gap so close behind a sample is work that it left behind */
};

struct gap {
	unsigned long long start_ns, length_ns;
};

struct watch {
	unsigned long long start_ns, end_ns, left_out_ns;
	long switches; /* how often another thread got the CPU */
	int zero;      /* /dev/zero to work by reading, or -1 */
	struct gap *gaps;
	size_t count;
};

static unsigned long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec;
}

static long count_switches(void)
{
	struct rusage used;

	getrusage(RUSAGE_THREAD, &used);
	return used.ru_nivcsw + used.ru_nvcsw;
}

/* Returns the time after it has looked at the gap: that is none itself. */
static unsigned long long take_gap(struct watch *watch, struct gap gap)
{
	long switches = count_switches();

	if (switches != watch->switches || gap.length_ns > GAP_MAX_NS || watch->count == GAPS_MAX)
		watch->left_out_ns += gap.length_ns;
	else
		watch->gaps[watch->count++] = gap;
	watch->switches = switches;
	return now_ns();
}

/* Returns the time at its end. */
__attribute__((noinline)) static unsigned long long work(struct watch *watch)
{
	static char buffer[READ_BYTES];
	unsigned long long last_ns = now_ns(), next_ns;

	while (last_ns < watch->end_ns) {
		if (watch->zero >= 0 && read(watch->zero, buffer, sizeof(buffer)) <= 0)
			break;
		next_ns = now_ns();
		if (next_ns - last_ns >= GAP_MIN_NS)
			next_ns = take_gap(watch, (struct gap){last_ns, next_ns - last_ns});
		last_ns = next_ns;
	}
	return last_ns;
}

/* One frame a level: the asm keeps the call from being a jump. */
__attribute__((noinline)) static unsigned long long descend(unsigned long depth,
							    struct watch *watch)
{
	unsigned long long last_ns = depth ? descend(depth - 1, watch) : work(watch);

	__asm__ volatile("" : "+r"(last_ns));
	return last_ns;
}

/* Where in the beat most gaps begin, in ns, a bin early. */
static unsigned long long find_phase(const struct watch *watch, unsigned long long period_ns)
{
	size_t bins = period_ns / BIN_NS + 1, best = 0;
	unsigned int *counts = calloc(bins, sizeof(*counts));

	if (!counts)
		exit(1);
	for (size_t i = 0; i < watch->count; i++)
		counts[watch->gaps[i].start_ns % period_ns / BIN_NS]++;
	for (size_t bin = 1; bin < bins; bin++) {
		if (counts[bin] + counts[bin - 1] >
		    counts[best] + counts[best ? best - 1 : bins - 1])
			best = bin;
	}
	free(counts);
	return (best + bins - 1) % bins * BIN_NS;
}

static int by_length(const void *left, const void *right)
{
	const struct gap *a = left, *b = right;

	return a->length_ns < b->length_ns ? -1 : a->length_ns > b->length_ns;
}

/* Leaves one gap a sample, with all that the sample took. */
static void keep_samples(struct watch *watch, unsigned long long period_ns)
{
	unsigned long long phase_ns = find_phase(watch, period_ns), end_ns = 0;
	size_t kept = 0;

	for (size_t i = 0; i < watch->count; i++) {
		struct gap gap = watch->gaps[i];

		if (kept && gap.start_ns - end_ns < AFTER_NS)
			watch->gaps[kept - 1].length_ns += gap.length_ns;
		else if ((gap.start_ns - phase_ns) % period_ns < 2 * BIN_NS)
			watch->gaps[kept++] = gap;
		else
			continue;
		end_ns = gap.start_ns + gap.length_ns;
	}
	watch->count = kept;
	qsort(watch->gaps, kept, sizeof(*watch->gaps), by_length);
}

static double mean_ns(const struct watch *watch)
{
	double sum = 0;

	for (size_t i = 0; i < watch->count; i++)
		sum += (double)watch->gaps[i].length_ns;
	return watch->count ? sum / (double)watch->count : 0;
}

static void print_result(const struct watch *all, unsigned long rate_hz)
{
	double seen_ns = (double)(all->end_ns - all->start_ns - all->left_out_ns);
	struct watch watch = *all;

	watch.gaps = malloc((all->count + 1) * sizeof(*watch.gaps));
	if (!watch.gaps || !rate_hz)
		exit(1);
	memcpy(watch.gaps, all->gaps, all->count * sizeof(*watch.gaps));
	keep_samples(&watch, 1000000000ull / rate_hz);
	printf("%llu %.0f %zu %.0f\n", watch.count ? watch.gaps[watch.count / 2].length_ns : 0,
	       mean_ns(&watch), watch.count, seen_ns * (double)rate_hz / 1e9);
	free(watch.gaps);
}

int main(int argc, char **argv)
{
	unsigned long depth = argc > 1 ? strtoul(argv[1], NULL, 10) : 40;
	unsigned long long length_ns = (argc > 2 ? strtoull(argv[2], NULL, 10) : 1000) * 1000000;
	char none[] = "";
	struct watch watch = {.zero = -1, .gaps = malloc(GAPS_MAX * sizeof(struct gap))};

	if (!watch.gaps)
		return 1;
	if (argc > 4 && !strcmp(argv[4], "kernel"))
		watch.zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	memset(watch.gaps, 1, GAPS_MAX / 64 * sizeof(struct gap)); /* page faults are gaps, too */
	watch.switches = count_switches();
	watch.start_ns = now_ns();
	watch.end_ns = watch.start_ns + length_ns;
	watch.end_ns = descend(depth, &watch);
	for (char *rate = strtok(argc > 3 ? argv[3] : none, ","); rate; rate = strtok(NULL, ","))
		print_result(&watch, strtoul(rate, NULL, 10));
	return 0;
}
