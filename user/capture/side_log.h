/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records about processes, kept as the kernel wrote them until it is known which processes had
 * samples. Of the others that began and ended meanwhile nothing is told: a machine that compiles
 * starts hundreds a second, most of which no sample ever meets.
 */
#ifndef CAPTURE_SIDE_LOG_H
#define CAPTURE_SIDE_LOG_H

#include "capture/side_band.h"

struct side_log;

/* Nothing is kept. Free with side_log_free(). */
struct side_log *side_log_new(void);
/* What is kept is forgotten; NULL is fine. */
void side_log_free(struct side_log *log);

/* A sink to be fed with every sample: it notes whose they are. Lives as long as the log. */
struct event_sink *side_log_samples(struct side_log *log);

/* Keeps a record of a dummy event, in order of time; false: it is about no process, so nothing
 * is known better later. */
bool side_log_keep(struct side_log *log, const void *record, size_t bytes);

/* How much is kept. */
u64 side_log_bytes(const struct side_log *log);

/* As side_band_take. `is_over`: its process began and ended in what is kept, and so did all that
 * it forked. */
typedef int side_log_take(void *context, const void *record, size_t bytes, bool is_over);

/* Tells all that is kept, as of processes that may live, and forgets it. Returns 0 or what `take`
 * returned. */
int side_log_tell_all(struct side_log *log, side_log_take *take, void *context);
/* The same without processes that began and ended in what is kept, ended before `known_ns`, had no
 * sample and forked none that is told. Forgets whose samples came. */
int side_log_tell_sampled(struct side_log *log, u64 known_ns, side_log_take *take, void *context);

#endif
