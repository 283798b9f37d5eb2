/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether the tests that load BPF may do so.
 */
#ifndef TESTS_KERNEL_PERMISSION_H
#define TESTS_KERNEL_PERMISSION_H

#include "bpfprof/types.h"
#include "unit/unit.h"

#include <linux/capability.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Whether this user may load BPF and open perf events; the tests are skipped if not. */
static inline bool may_capture(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2] = {{0}};
	u64 effective;

	if (access("/sys/kernel/btf/vmlinux", R_OK) || syscall(SYS_capget, &header, caps))
		return false;
	effective = caps[0].effective | (u64)caps[1].effective << 32;
	return effective >> CAP_SYS_ADMIN & 1 ||
	       (effective >> CAP_BPF & 1 && effective >> CAP_PERFMON & 1);
}

static inline void skip_without_permission(void)
{
	if (!may_capture())
		skip();
}

#endif
