/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Capabilities, from all five sets.
 *
 * Source: capabilities(7). The bounding set is emptied as a whole, since we run no other program;
 * that takes CAP_SETPCAP, and who lacks it gets nothing out of that set, because no_new_privs is
 * set and system calls that would run a program are not allowed.
 */
#include "host/privileges.h"

#include "base/fail.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CAPABILITIES_MOST = 64 };

static int empty_bounding_set(void)
{
	for (unsigned long number = 0; number < CAPABILITIES_MOST; number++) {
		int is_there = prctl(PR_CAPBSET_READ, number, 0, 0, 0);

		if (is_there < 0)
			return 0; /* this kernel's last one was before */
		if (is_there && prctl(PR_CAPBSET_DROP, number, 0, 0, 0) && errno != EPERM)
			return -errno;
	}
	return 0;
}

static int keep_only(u64 capabilities)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};

	if (syscall(SYS_capget, &header, sets))
		return -errno;
	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		sets[i].permitted &= (u32)(capabilities >> 32 * i);
		sets[i].effective = sets[i].permitted;
		sets[i].inheritable = 0;
	}
	return syscall(SYS_capset, &header, sets) ? -errno : 0;
}

bool privileges_suffice(u64 capabilities, bool (*works)(void))
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct all[_LINUX_CAPABILITY_U32S_3] = {{0}};
	struct __user_cap_data_struct some[_LINUX_CAPABILITY_U32S_3];
	bool do_suffice;

	if (syscall(SYS_capget, &header, all))
		return false;
	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		some[i] = all[i];
		some[i].effective &= (u32)(capabilities >> 32 * i);
	}
	if (syscall(SYS_capset, &header, some))
		return false;
	do_suffice = works();
	syscall(SYS_capset, &header, all); /* they are permitted, so this is, too */
	return do_suffice;
}

int privileges_keep(u64 capabilities)
{
	int error = empty_bounding_set();

	if (!error && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
		error = -errno;
	if (!error)
		error = keep_only(capabilities);
	if (!error && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		error = -errno;
	return error ? fail(error, NULL, "cannot give up capabilities") : 0;
}
