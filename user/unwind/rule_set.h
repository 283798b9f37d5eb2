/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The distinct unwind rules of all binaries, by number.
 */
#ifndef UNWIND_RULE_SET_H
#define UNWIND_RULE_SET_H

#include "base/idmap.h"
#include "base/vec.h"
#include "bpfprof/unwind_table.h"

enum { RULE_CACHE_BITS = 10 };

/* The rules that every set begins with: of CFA_NONE and of CFA_UNSUPPORTED. */
enum { RULE_NONE, RULE_UNSUPPORTED };

/* Start with rule_set_init(). */
struct rule_set {
	VEC(struct unwind_rule) rules;
	struct idmap
		rule_of; /* hash of a rule → number + 1; equal hashes stand behind one another */
	u32 recent[1 << RULE_CACHE_BITS]; /* a cheaper hash of a rule → number of a rule of it */
};

/* An empty set but for RULE_NONE and RULE_UNSUPPORTED. */
void rule_set_init(struct rule_set *set);
/* The number of this rule, new or known; at most `most` rules: beyond that
 * RULE_UNSUPPORTED. */
u32 rule_set_add(struct rule_set *set, const struct unwind_rule *rule, u32 most);
/* Frees the memory. */
void rule_set_release(struct rule_set *set);

#endif
