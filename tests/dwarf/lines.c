/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prints the source frames of addresses, to hold against llvm-symbolizer.
 *
 * Usage: lines [-t threads] ELF < addresses
 * For each address a line with it, then two for each frame: the function ("-" where the symbol's
 * name stays) and file:line. Time and memory go to standard error. Fails if the DWARF is damaged.
 */
#include "base/file.h"
#include "base/memory.h"
#include "base/vec.h"
#include "binary/binary.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void print(u64 address, const struct source_frame *frames, u32 count)
{
	printf("0x%" PRIx64 "\n", address);
	for (u32 i = 0; i < count; i++)
		printf("%s\n%s:%u\n", frames[i].function ? frames[i].function : "-",
		       frames[i].file ? frames[i].file : "??", frames[i].line);
}

static int open_lines(const char *path, struct source_lines **ret_lines)
{
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	CLEANUP(freep) char *whole = realpath(path, NULL);
	struct build_id id = {0};

	if (fd < 0 || !whole)
		return -errno;
	build_id_of_fd(fd, &id);
	return source_lines_open(fd, "", whole, &id, ret_lines);
}

int main(int argc, char **argv)
{
	CLEANUP(source_lines_closep) struct source_lines *lines = NULL;
	VEC(u64) addresses = {0};
	CLEANUP(source_chains_release) struct source_chains chains = {0};
	struct rusage usage;
	double start = seconds(CLOCK_MONOTONIC), opened;
	u32 threads = 0;
	u64 address;
	int option, error;

	while ((option = getopt(argc, argv, "t:")) == 't')
		threads = (u32)strtoul(optarg, NULL, 0);
	if (option != -1 || optind + 1 != argc)
		return 2;
	error = open_lines(argv[optind], &lines);
	if (error && error != -ENODATA) {
		fprintf(stderr, "%s: %s\n", argv[optind], strerror(-error));
		return 1;
	}
	opened = seconds(CLOCK_MONOTONIC);
	while (scanf("%" SCNx64, &address) == 1)
		*vec_add(&addresses) = address;
	if (lines)
		source_lines_find_all(lines, addresses.items, addresses.count, threads, &chains);
	else /* no DWARF: nothing is known of any address */
		chains.starts = must_alloc_array(addresses.count + 1, sizeof(u32));
	getrusage(RUSAGE_SELF, &usage);
	fprintf(stderr, "%.3f s, %.3f s to open, %.3f s CPU, %ld MB\n",
		seconds(CLOCK_MONOTONIC) - start, opened - start, seconds(CLOCK_PROCESS_CPUTIME_ID),
		usage.ru_maxrss / 1024);
	for (size_t i = 0; i < addresses.count; i++)
		print(addresses.items[i], chains.frames + chains.starts[i],
		      chains.starts[i + 1] - chains.starts[i]);
	vec_release(&addresses);
	if (lines && source_lines_is_damaged(lines)) {
		fprintf(stderr, "%s: not all of its DWARF could be read\n", argv[optind]);
		return 1;
	}
	return 0;
}
