/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a service tells systemd of itself (sd_notify(3)): a datagram to the socket that
 * $NOTIFY_SOCKET names. Without that variable nothing is sent.
 */
#ifndef CONTINUOUS_NOTIFY_H
#define CONTINUOUS_NOTIFY_H

#include "bpfprof/types.h"

/* Tells lines of "KEY=VALUE". Returns 0, also if nobody wants to know, or a negative errno without
 * a sentence. */
int notify_send(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* How often "WATCHDOG=1" is to be sent, half of what systemd waits for it; 0: never. */
u64 notify_watchdog_ns(void);

#endif
