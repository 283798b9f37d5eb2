/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whose a cgroup is, by the names in its path alone: container runtimes and systemd name what they
 * make by rules that have not changed for years. Nothing is asked of them, so that it works for
 * recordings of other machines, and for what is long gone.
 */
#ifndef HOST_CGROUP_IDENTITY_H
#define HOST_CGROUP_IDENTITY_H

#include "bpfprof/types.h"

enum {
	CGROUP_NAME_BYTES = 256,     /* a file name, with its NUL */
	CONTAINER_SHORT_DIGITS = 12, /* of an id are shown, as all the runtimes' tools do */
};

struct cgroup_identity {
	const char *runtime; /* "docker", "containerd", "podman" …; "container": one of them; or
			      * NULL */
	char container[CGROUP_NAME_BYTES]; /* its id, all of it, or its name; "": in none */
	char unit[CGROUP_NAME_BYTES];	   /* of systemd, as systemctl calls it; "": of none */
};

/*
 * The innermost container and the innermost unit that a cgroup is in or is. A slice is its unit
 * only if there is no other.
 *
 * path  as PERF_RECORD_CGROUP has it, from the top of the tree; whatever it is, nothing else is
 *       read
 */
struct cgroup_identity cgroup_identify(const char *path);

#endif
