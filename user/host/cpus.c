/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The CPU lists that the kernel keeps in sysfs.
 */
#include "host/cpus.h"

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define FOLDER "/sys/devices/system/cpu/"

enum {
	HIGHEST_CPU = 65535, /* far above CONFIG_NR_CPUS of any distribution */
	LIST_BYTES = 65536,
	ATTRIBUTE_BYTES = 4096, /* more than that a file of sysfs has not at once */
};

/* Reads "0-3,8" from a file of /sys/devices/system/cpu. */
static int read_list(const char *name, u32 **ret_cpus, size_t *ret_count)
{
	CLEANUP(freep) char *path = must_format(FOLDER "%s", name);
	CLEANUP(freep) char *text = NULL;
	int error = file_read(path, LIST_BYTES, &text, NULL);

	if (error)
		return error;
	text[strcspn(text, "\n")] = 0;
	return number_parse_list(text, HIGHEST_CPU, ret_cpus, ret_count);
}

int cpus_online(u32 **ret_cpus, size_t *ret_count)
{
	int error = read_list("online", ret_cpus, ret_count);

	if (error)
		return fail(error, "mount sysfs on /sys", "cannot tell which CPUs are online");
	return 0;
}

u32 cpus_present(void)
{
	CLEANUP(freep) u32 *cpus = NULL;
	long configured = sysconf(_SC_NPROCESSORS_CONF);
	size_t count;

	if (!read_list("present", &cpus, &count) && count)
		return cpus[count - 1] + 1;
	return configured > 0 ? (u32)configured : 1;
}

struct cpus_watch {
	int fd;
	ssize_t length; /* of `text`; below 0: it was never read */
	char text[ATTRIBUTE_BYTES];
};

struct cpus_watch *cpus_watch_new(void)
{
	struct cpus_watch *watch = must_alloc(sizeof(*watch));

	watch->fd = open(FOLDER "online", O_RDONLY | O_CLOEXEC);
	watch->length = -1;
	return watch;
}

bool cpus_watch_changed(struct cpus_watch *watch)
{
	char text[ATTRIBUTE_BYTES];
	ssize_t length = pread(watch->fd, text, sizeof(text), 0);

	if (length > 0 && length == watch->length && !memcmp(text, watch->text, (size_t)length))
		return false;
	watch->length = length;
	if (length > 0)
		memcpy(watch->text, text, (size_t)length);
	return true;
}

void cpus_watch_free(struct cpus_watch *watch)
{
	if (!watch)
		return;
	closep(&watch->fd);
	free(watch);
}
