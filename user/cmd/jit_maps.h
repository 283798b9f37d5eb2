/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The perf-PID.map files of processes whose own code was sampled, held open from then to the end of
 * the window: their processes, and with them the files, may be gone before. Private to this folder.
 */
#ifndef CMD_JIT_MAPS_H
#define CMD_JIT_MAPS_H

#include "base/idmap.h"
#include "base/vec.h"

struct jit_map {
	u32 pid;
	int fd; /* -1: there is none, or it was taken */
};

/* A zeroed one is valid and empty. */
struct jit_maps {
	VEC(struct jit_map) items;
};

/* Opens that of a process, if it is not open and not too many are. Returns its descriptor,
 * borrowed, or as perf_map_open(). */
int jit_map_of(struct jit_maps *maps, u32 pid);
/* The same for who closes it. The window is over for this process. */
int jit_map_take(struct jit_maps *maps, u32 pid);
/* Closes all; empty again. */
void jit_maps_release(struct jit_maps *maps);

#endif
