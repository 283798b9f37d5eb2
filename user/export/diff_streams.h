/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Streams of branches of two recordings as text, in the layout of perf diff --stream.
 */
#ifndef EXPORT_DIFF_STREAMS_H
#define EXPORT_DIFF_STREAMS_H

#include "profile/profile.h"

/* Writes those that both have, side by side, and those of the one and of the other. Bytes that
 * could steer a terminal are escaped. */
void diff_write_streams(const struct streams *streams, const struct fold *fold, FILE *out);

#endif
