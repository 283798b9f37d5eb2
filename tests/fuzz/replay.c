/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Gives a fuzz target the files of its corpus one after the other, without libFuzzer, so that every
 * input that was ever interesting is part of the unit tests. Speaks TAP, one test a file; a finding
 * ends the program, and the missing rest is a failure.
 *
 * usage: x_replay [FOLDER]      default: CORPUS, set by the Makefile
 */
#include "base/memory.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>

/* The fuzz target: 0, whatever the bytes are. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static int is_input(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void replay(const char *folder, const char *name)
{
	CLEANUP(freep) char *path = must_format("%s/%s", folder, name);
	CLEANUP(fclosep) FILE *file = fopen(path, "rb");
	CLEANUP(freep) uint8_t *bytes = NULL;
	size_t count = 0, capacity = 4096;

	if (!file)
		return;
	do {
		capacity *= 2;
		bytes = must_resize_array(bytes, capacity, 1);
		count += fread(bytes + count, 1, capacity - count, file);
	} while (count == capacity);
	LLVMFuzzerTestOneInput(bytes, count);
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : CORPUS;
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_input, alphasort);

	if (count <= 0) {
		printf("1..1\nnot ok 1 - %s holds no inputs\n", folder);
		return 1;
	}
	printf("1..%d\n", count);
	for (int row = 0; row < count; row++) {
		replay(folder, entries[row]->d_name);
		printf("ok %d - %s\n", row + 1, entries[row]->d_name);
		fflush(stdout);
		free(entries[row]);
	}
	free(entries);
	return 0;
}
