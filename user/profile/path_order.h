/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The paths of a fold in an order in which all that is called from a path, near and far, stands
 * right behind it. Private to the folder.
 */
#ifndef PROFILE_PATH_ORDER_H
#define PROFILE_PATH_ORDER_H

#include "profile/fold.h"

/* A zeroed one is empty. */
struct path_order {
	u32 *places;	/* by path_id */
	path_id *paths; /* by place */
	u32 *ends;	/* by place: behind all that is called from there */
};

/* Free with path_order_release(). */
struct path_order path_order_of(const struct fold *fold);
/* Frees the memory; empty again. */
void path_order_release(struct path_order *order);

#endif
