/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Settings and limits of the kernel.
 */
#ifndef HOST_SYSCTL_H
#define HOST_SYSCTL_H

/* Reads the number in a file below /proc/sys: "kernel/kptr_restrict". Returns 0 or a negative errno
 * without a sentence (-EBADMSG: there is no number in it). */
int sysctl_read(const char *name, long *ret_value);

#endif
