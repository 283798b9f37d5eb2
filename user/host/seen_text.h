/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Small files of the kernel that are read again and again, to see whether they say something else.
 */
#ifndef HOST_SEEN_TEXT_H
#define HOST_SEEN_TEXT_H

#include <stdbool.h>
#include <sys/types.h>

/* How many uevents the kernel has told since it runs: of devices that come, go or change, and of
 * modules that have been loaded or are about to go. */
#define UEVENT_COUNT "/sys/kernel/uevent_seqnum"

enum { ATTRIBUTE_BYTES = 4096 }; /* more than that a file of sysfs has not at once */

struct seen_text {
	int fd;
	ssize_t length; /* of `text`; below 0: it was never read */
	char text[ATTRIBUTE_BYTES];
};

/* Opens it, unseen; that it cannot be opened shows when it is asked. Close with seen_text_close().
 */
void seen_text_open(struct seen_text *seen, const char *path);
/* Whether it says something else than when that was asked last. True also if that is asked for the
 * first time, or it cannot be read. */
bool seen_text_changed(struct seen_text *seen);
/* Closes it, if it is open. */
void seen_text_close(struct seen_text *seen);

#endif
