/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A window as profiles for a server: a pprof for each systemd unit and container. Private to this
 * folder.
 */
#ifndef CMD_PUSHED_PROFILES_H
#define CMD_PUSHED_PROFILES_H

#include "continuous/continuous.h"

/* What all windows of this machine have in common. */
struct push_origin {
	char *host;  /* its name */
	char *names; /* the folder in which names of functions are kept */
};

/* Finds out; `names` is copied. push_origin_release() it. */
void push_origin_init(struct push_origin *origin, const char *names);
/* Frees the contents. */
void push_origin_release(struct push_origin *origin);

/*
 * Makes the profiles and hands each to `take`, with "bpfprof{host=…,unit=…,container=…}" as its
 * name; what a sample has none of is left out. Names of functions are those that are kept.
 *
 * Returns 0, what `take` returned, or a negative errno with a sentence.
 */
int pushed_profiles_make(const struct push_origin *origin, const struct push_window *window,
			 push_take *take, void *taker);

#endif
