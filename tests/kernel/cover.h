/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files that lie over those of the kernel, in a mount namespace of our own.
 */
#ifndef KERNEL_COVER_H
#define KERNEL_COVER_H

#include "unit/unit.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

/* A file that lies over one of the kernel's. */
struct cover {
	const char *covered;
	char path[32];
	int fd;
};

static inline void cover_write(const struct cover *cover, const char *text)
{
	assert_int_equal(ftruncate(cover->fd, 0), 0);
	assert_int_equal(pwrite(cover->fd, text, strlen(text), 0), strlen(text));
}

/* Skips the test where that cannot be done. */
static inline struct cover cover_file(const char *covered, const char *text)
{
	struct cover cover = {.covered = covered, .path = "/tmp/bpfprof-test-XXXXXX"};

	if (access("/sys/devices/system/cpu/cpu1", F_OK) || unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		skip();
	cover.fd = mkstemp(cover.path);
	cover_write(&cover, text);
	assert_int_equal(mount(cover.path, covered, NULL, MS_BIND, NULL), 0);
	return cover;
}

static inline void uncover(const struct cover *cover)
{
	umount(cover->covered);
	unlink(cover->path);
	close(cover->fd);
}

#endif
