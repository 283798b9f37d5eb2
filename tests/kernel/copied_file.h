/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The samples of perf record --call-graph dwarf as our reader walks them, and what they were walked
 * from.
 */
#ifndef TESTS_KERNEL_COPIED_FILE_H
#define TESTS_KERNEL_COPIED_FILE_H

#include "bpfprof/event.h"
#include "event/event.h"

/*
 * Hands a recording of this machine to `sink`, its stacks walked; before each sample with a copied
 * stack `on_proof` hears what it is made of.
 * Returns 0 or a negative errno with a sentence.
 */
int copied_file_read(const char *path, struct event_sink *sink,
		     void (*on_proof)(void *context, const struct proof_record *proof),
		     void *context);

#endif
