/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether a snapshot shows anything that was not learned yet. Private to lbr/.
 *
 * In a long recording hardly any does, and walking it costs ten times as much as seeing that.
 */
#ifndef LBR_EVIDENCE_H
#define LBR_EVIDENCE_H

#include "lbr/threads.h"

struct evidence {
	struct places *places;
	struct thread_facts *thread;
	const struct snapshot *snapshot;
};

/* All was learned from the stack that was walked from this snapshot. */
void evidence_note(const struct evidence *evidence, const struct stack *stack);
/* Whether walking this snapshot would lead along calls that were noted, all of its functions in
 * registers where they were before. Then the thread was seen once more. */
bool evidence_is_known(const struct evidence *evidence);

#endif
