/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether asking the kernel for build ids of mappings spoils the records of other tools.
 *
 * Kernels since 5.12 fill one header for each mapping and hand it to all events in turn; the mark
 * "holds a build id", set for an event that asked, stays set for those behind it, which hold device
 * and inode. A tool that believes the mark reads those as a build id (perf 6.1 aborts). So: three
 * events on ourselves, of which the middle one asks, and the mapping of a file that has a build id.
 * Whichever way the kernel walks them, a plain one comes behind the one that asks.
 */
#include "capture/feature_probes.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>

enum { EVENTS = 3, ASKS = 1 };

/* An event on this thread, and its ring of one page. */
struct watcher {
	int fd;
	struct perf_event_mmap_page *control;
};

static size_t page_bytes(void)
{
	return (size_t)getpagesize();
}

static void watchers_close(struct watcher (*watchers)[EVENTS])
{
	for (int i = 0; i < EVENTS; i++) {
		if ((*watchers)[i].control)
			munmap((*watchers)[i].control, 2 * page_bytes());
		closep(&(*watchers)[i].fd);
	}
}

static int watcher_open(struct watcher *watcher, bool asks)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,
		.mmap2 = 1,
		.build_id = asks,
		.exclude_kernel = 1,
		.disabled = 1,
	};
	void *control;

	watcher->fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (watcher->fd < 0)
		return -errno;
	control = mmap(NULL, 2 * page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, watcher->fd, 0);
	if (control == MAP_FAILED)
		return -errno;
	watcher->control = control;
	return ioctl(watcher->fd, PERF_EVENT_IOC_ENABLE) ? -errno : 0;
}

/*
 * Maps a file with a build id executable, for a moment: a copy in memory of our program's first
 * page, which has the note. Its device is 0:1, so a tool that watches this thread (perf record
 * bpfprof) and gets a wrong mark from us finds the length 0 where a build id's length would be.
 */
static int map_build_id(void)
{
	CLEANUP(closep) int program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	CLEANUP(closep) int copy = memfd_create("build id", MFD_CLOEXEC);
	void *start;

	if (program < 0 || copy < 0 || sendfile(copy, program, NULL, page_bytes()) < 0)
		return -errno;
	start = mmap(NULL, page_bytes(), PROT_READ | PROT_EXEC, MAP_PRIVATE, copy, 0);
	if (start == MAP_FAILED)
		return -errno;
	munmap(start, page_bytes());
	return 0;
}

/* Whether the first mapping in the ring is marked as holding a build id. -ENODATA: it is empty. */
static int is_marked(const struct watcher *watcher)
{
	struct perf_event_header header;

	if (!watcher->control ||
	    __atomic_load_n(&watcher->control->data_head, __ATOMIC_ACQUIRE) < sizeof(header))
		return -ENODATA;
	memcpy(&header, (const u8 *)watcher->control + page_bytes(), sizeof(header));
	if (header.type != PERF_RECORD_MMAP2)
		return -ENODATA;
	return (header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0;
}

int probe_mmap_build_id(char *found)
{
	CLEANUP(watchers_close)
	struct watcher watchers[EVENTS] = {{.fd = -1}, {.fd = -1}, {.fd = -1}};
	int error = 0, marked[EVENTS];

	for (int i = 0; i < EVENTS && !error; i++)
		error = watcher_open(&watchers[i], i == ASKS);
	if (!error)
		error = map_build_id();
	if (error)
		return error;
	for (int i = 0; i < EVENTS; i++) {
		marked[i] = is_marked(&watchers[i]);
		if (marked[i] < 0)
			return marked[i];
	}
	if (marked[0] || marked[2]) {
		snprintf(found, FEATURE_FOUND_BYTES,
			 "this kernel leaks them into other tools' records");
		return -EOPNOTSUPP;
	}
	return marked[ASKS] ? 0 : -ENODATA;
}
