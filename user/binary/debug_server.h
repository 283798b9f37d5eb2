/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Debug files from the servers that DEBUGINFOD_URLS names, through the client library of elfutils
 * and its cache. Nobody ever waits for a server: what is in the cache is used at once, what is not
 * is fetched by a process of its own and will be there the next time.
 */
#ifndef BINARY_DEBUG_SERVER_H
#define BINARY_DEBUG_SERVER_H

#include "binary/build_id.h"

#include <stdbool.h>
#include <stddef.h>

/* Where the client keeps the debug file of a build id, whether or not it is there. Owned by the
 * caller; NULL: no server is named, or there is no cache. */
char *debug_server_kept(const struct build_id *id);

/* Whether it may be worth asking for this file: a server is named, and has not said lately that it
 * does not have it. */
bool debug_server_may_have(const struct build_id *id);

/*
 * Starts fetching into the cache, and returns at once. The process that does it has no terminal and
 * no open files of ours, and ends after two minutes at most.
 *
 * Returns 0, -ENOPKG (the client library is not installed) or another negative errno, without a
 * sentence.
 */
int debug_server_fetch(const struct build_id *ids, size_t count);

#endif
