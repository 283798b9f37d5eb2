/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's maps and the tables' side of them, for tests that ask as the BPF programs would.
 */
#ifndef TESTS_KERNEL_UNWIND_ASKING_H
#define TESTS_KERNEL_UNWIND_ASKING_H

#include "base/memory.h"
#include "bpfprof/counters.h"
#include "capture/unwind_tables.h"
#include "host/host.h"
#include "kernel/recording.h"
#include "unit/map_file.h"
#include "unwind/unwind.h"

#include <bpf/bpf.h>
#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static struct programs *programs;
static struct unwind_maps maps;
static struct unwind_tables *tables;
static u64 now_ns; /* as it is told to them */
static char folder[] = "/tmp/unwind_tables_test.XXXXXX";

static inline void open_tables(u32 segments)
{
	struct program_plan plan = {
		.settings = {.max_stack = 127,
			     .wants_stacks = true,
			     .walkers = WALKER_EH_FRAME | WALKER_FRAME_POINTER},
		.source_count = 1,
		.ring_bytes = 1 << 18,
		.unwind_segments = segments,
	};

	skip_without_permission();
	assert_int_equal(programs_load(&plan, &programs), 0);
	maps = programs_unwind_maps(programs);
	assert_int_equal(unwind_tables_open(&maps, &tables), 0);
}

static inline int close_tables(void **state)
{
	unwind_tables_close(TAKE(tables));
	programs_free(TAKE(programs));
	(void)state;
	return 0;
}

static inline int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
	CLEANUP(freep) char *command = must_format("rm -r %s", folder);

	(void)state;
	return system(command);
}

/* A copy of a file that no other test uses. Owned by the caller. */
static inline char *copy_of(const char *from, const char *name)
{
	CLEANUP(freep) char *path = must_format("%s/%s", folder, name);
	CLEANUP(freep) char *command = must_format("cp %s %s", from, path);

	assert_int_equal(system(command), 0);
	return TAKE(path);
}

/* The same of this program. */
static inline char *copy_of_ourselves(const char *name)
{
	CLEANUP(freep) char *ourselves = must_format("/proc/%d/exe", getpid());

	return copy_of(ourselves, name);
}

/* A file that some process has mapped as the programs would ask for it. */
static inline struct file_wanted wanted_of(const char *path)
{
	struct file_wanted wanted = {.kind = RECORD_FILE_WANTED, .pid = (u32)getpid()};
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	assert_int_equal(fstat(fd, &status), 0);
	mapped_file_generation(fd, &wanted.file.generation);
	wanted.file.inode = status.st_ino;
	wanted.file.device = major(status.st_dev) << 20 | minor(status.st_dev);
	return wanted;
}

/* The same, mapped by us: munmap() it at wanted.start. */
static inline struct file_wanted map_and_want(const char *path)
{
	struct file_wanted wanted = wanted_of(path);
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *start = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	assert_true(start != MAP_FAILED);
	wanted.start = (u64)start;
	wanted.end = wanted.start + 4096;
	return wanted;
}

static inline void unmap(const struct file_wanted *wanted)
{
	munmap((void *)wanted->start, wanted->end - wanted->start);
}

/* What the programs do when they meet a file for the first time. */
static inline void ask(const struct file_wanted *wanted)
{
	struct unwind_file value = {.state = FILE_WANTED};

	if (!bpf_map_update_elem(maps.files_fd, &wanted->file, &value, BPF_NOEXIST))
		unwind_tables_want(tables, wanted);
}

/* Whether there is something to do now. */
static inline bool has_work(void)
{
	struct pollfd ready = {.fd = unwind_tables_fd(tables), .events = POLLIN};

	return poll(&ready, 1, 0) == 1;
}

static inline void work_until_idle(void)
{
	do
		unwind_tables_work(tables, now_ns);
	while (has_work());
}

/* What the programs know of a file. */
static inline struct unwind_file file_in_map(const struct unwind_file_key *key)
{
	struct unwind_file value = {.state = ~0U};

	bpf_map_lookup_elem(maps.files_fd, key, &value);
	return value;
}

static inline struct unwind_file ask_and_wait(const struct file_wanted *wanted)
{
	ask(wanted);
	work_until_idle();
	return file_in_map(&wanted->file);
}

static inline u64 counted(enum counter counter)
{
	u64 counters[COUNTER_COUNT] = {0};

	unwind_tables_totals(tables, counters);
	return counters[counter];
}

static inline struct unwind_totals totals(void)
{
	u64 counters[COUNTER_COUNT] = {0};

	return unwind_tables_totals(tables, counters);
}

#endif
