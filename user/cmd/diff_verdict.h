/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `bpfprof diff --fail-if` asks, and whether it was so.
 */
#ifndef CMD_DIFF_VERDICT_H
#define CMD_DIFF_VERDICT_H

#include "base/text.h"
#include "cli/cli.h"
#include "profile/profile.h"

/* Zeroed it asks nothing. */
struct diff_verdict {
	VEC(struct conditions *) asked; /* one of them is enough */
	size_t matches;			/* lines that one held for, on any side */
	struct text first;		/* the first of them, and by how much it changed */
};

/* Parses the expressions. Release with diff_verdict_release(), also after an error. Returns 0, or
 * -EINVAL with a sentence. */
int diff_verdict_parse(const struct text_list *expressions, struct diff_verdict *verdict);
/* Asks about the lines of one event, in the order in which they are shown. */
void diff_verdict_ask(struct diff_verdict *verdict, const struct changes *changes);
/* Says on stderr what was found. Returns STATUS_FOUND, or STATUS_DONE if that is nothing. */
int diff_verdict_tell(const struct diff_verdict *verdict);
/* Frees the contents. */
void diff_verdict_release(struct diff_verdict *verdict);

#endif
