/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waiting until no BPF program runs that has begun before.
 */
#ifndef CAPTURE_GRACE_PERIOD_H
#define CAPTURE_GRACE_PERIOD_H

/* Returns when every program that ran on any CPU has ended and what it wrote is seen here; those
 * that begin afterwards see what was written here. Takes some milliseconds. Returns 0 or a negative
 * errno with a sentence. */
int grace_period_wait(void);

#endif
