/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The distinct unwind rules of all binaries, by number.
 */
#ifndef UNWIND_RULE_SET_H
#define UNWIND_RULE_SET_H

#include "base/idmap.h"
#include "base/vec.h"
#include "bpfprof/unwind_table.h"

#include <stdbool.h>
#include <string.h>

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
/* rule_set_add() without `recent`. */
u32 rule_set_add_rare(struct rule_set *set, const struct unwind_rule *rule, u32 most);
/* Frees the memory. */
void rule_set_release(struct rule_set *set);

/* Whether a number is that of this rule. */
static inline bool rule_set_holds(const struct rule_set *set, u32 number,
				  const struct unwind_rule *rule)
{
	return !memcmp(&set->rules.items[number], rule, sizeof(*rule));
}

/* The number of this rule, new or known; at most `most` rules: beyond that RULE_UNSUPPORTED. */
static inline u32 rule_set_add(struct rule_set *set, const struct unwind_rule *rule, u32 most)
{
	u64 words[2];
	u32 *recent;

	memcpy(words, rule, sizeof(words));
	words[0] = (words[0] ^ (words[1] << 29 | words[1] >> 35)) * 0x9e3779b97f4a7c15ULL;
	recent = &set->recent[words[0] >> (64 - RULE_CACHE_BITS)];
	if (!rule_set_holds(set, *recent, rule))
		*recent = rule_set_add_rare(set, rule, most);
	return *recent;
}

#endif
