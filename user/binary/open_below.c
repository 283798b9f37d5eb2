/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opening files whose paths others chose.
 */
#include "binary/open_below.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static bool is_our_root(const char *root)
{
	return !root[0] || (root[0] == '/' && !root[1]);
}

/* Where the path leads, without opening what is there. Returns the descriptor or -errno. */
static int find_below(const char *root, const char *path, enum link_rule links)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | (links == LAST_LINK_REFUSED ? O_NOFOLLOW : 0),
		.resolve = RESOLVE_IN_ROOT,
	};
	CLEANUP(closep) int root_fd = -1;
	CLEANUP(freep) char *joined = NULL;
	int fd;

	if (is_our_root(root))
		fd = open(path, (int)how.flags);
	else {
		root_fd = open(root, O_PATH | O_CLOEXEC | O_DIRECTORY);
		if (root_fd < 0)
			return -errno;
		fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
	}
	if (fd < 0 && errno == ENOSYS && !is_our_root(root)) {
		/* Before Linux 5.6: absolute links lead to our files, which the build id finds out.
		 */
		joined = must_format("%s/%s", root, path);
		fd = open(joined, (int)how.flags);
	}
	return fd < 0 ? -errno : fd;
}

int open_below(const char *root, const char *path, enum link_rule links, int *ret_fd)
{
	CLEANUP(closep) int place = find_below(root, path, links);
	char reopened[32];
	struct stat status;
	int fd;

	if (place < 0)
		return place;
	if (fstat(place, &status))
		return -errno;
	if (S_ISLNK(status.st_mode))
		return -ELOOP;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	snprintf(reopened, sizeof(reopened), "/proc/self/fd/%d", place);
	fd = open(reopened, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}
