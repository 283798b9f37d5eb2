/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The paths of a fold in an order in which all that is called from a path, near and far, stands
 * right behind it. Private to the folder.
 */
#ifndef PROFILE_PATH_ORDER_H
#define PROFILE_PATH_ORDER_H

#include "profile/fold.h"

struct placed_path {
	u32 end; /* the place behind all that is called from there */
	frame_id frame;
};

/* A zeroed one is empty. */
struct path_order {
	u32 *places;		   /* by path_id */
	path_id *paths;		   /* by place */
	struct placed_path *items; /* by place, what is asked of many of them */
};

/* Free with path_order_release(). */
struct path_order path_order_of(const struct fold *fold);
/* Frees the memory; empty again. */
void path_order_release(struct path_order *order);

#endif
