/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel runs: itself, its modules, BPF programs. Private to capture/.
 */
#ifndef CAPTURE_KERNEL_CODE_H
#define CAPTURE_KERNEL_CODE_H

#include "event/event.h"

/* Hands over the running kernel's text and modules as mappings, and the BPF code that is loaded as
 * kernel symbols. Returns 0, what the sink returned, or a negative errno with a sentence. */
int kernel_code_send(struct event_sink *sink);

#endif
