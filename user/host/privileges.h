/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Giving up what a process may do, for as long as it lives. Both are of the thread that calls and
 * of those that it starts from then on: call them while there is one.
 */
#ifndef HOST_PRIVILEGES_H
#define HOST_PRIVILEGES_H

#include "bpfprof/types.h"

#include <stdbool.h>
#include <stddef.h>

#define CAPABILITY_BIT(number) (1ULL << (number))

/*
 * Gives up all capabilities but these, of those that there are, and the way to any others: no
 * program that is run from then on has more than this user has without any.
 *
 * capabilities  CAPABILITY_BIT()s of those that stay permitted and effective
 * Returns 0 or a negative errno with a sentence.
 */
int privileges_keep(u64 capabilities);

/*
 * Tries whether something works with no more than these capabilities. The others rest meanwhile,
 * and are effective again when this returns.
 *
 * works  what is tried; it leaves nothing behind
 * Returns whether it works.
 */
bool privileges_suffice(u64 capabilities, bool (*works)(void));

/* Groups of system calls. What is in none of them ends the process at once, by SIGSYS; what came
 * into Linux after those that are known here fails with ENOSYS, as on a kernel that is older. */
enum call_group {
	/* Work on files that are open: no way to any other, of which EACCES tells who asks for
	 * the path of one. */
	CALLS_CONFINED = 1,
	CALLS_KEEPER = 2,  /* to start processes that may do less, and wait for them */
	CALLS_CAPTURE = 4, /* files, BPF, perf events, threads, sockets of this machine; no process,
			      but to let one go on that was stopped */
	CALLS_NETWORK = 8, /* connections and listeners */
	CALLS_REQUESTS = 16, /* to be given files over a socket that is there */
};

/* Allows only the system calls of some groups from now on; no_new_privs must be set, which
 * privileges_keep() does. Returns 0 or a negative errno with a sentence (-EINVAL: a kernel without
 * CONFIG_SECCOMP_FILTER). */
int privileges_limit_calls(u32 groups);

/* The same for processes to come, which take it over in some microseconds: to make it takes a
 * millisecond. */
struct call_filter {
	void *program; /* owned; NULL: there is none */
	size_t bytes;
};

/* Makes what a process that calls call_filter_apply() is limited to. It may not end itself by a
 * signal, since who makes this does not know its number. Returns 0 or a negative errno with a
 * sentence; call_filter_release() it. */
int call_filter_make(u32 groups, struct call_filter *ret_filter);
/* Limits the process as privileges_limit_calls() does. Returns 0 or a negative errno. */
int call_filter_apply(const struct call_filter *filter);
/* Frees what it has. */
void call_filter_release(struct call_filter *filter);

#endif
