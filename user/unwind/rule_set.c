/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rules as numbers: a rule's 16 bytes are hashed to a key, and keys that are taken by
 * another rule are stepped over.
 *
 * A binary has hundreds of thousands of rows and hundreds of rules, so that nearly all are found in
 * `recent`, by a hash that need not be good.
 */
#include "unwind/rule_set.h"

#include <stdbool.h>
#include <string.h>
#include <xxhash.h>

void rule_set_init(struct rule_set *set)
{
	static const struct unwind_rule none = {.cfa_kind = CFA_NONE};
	static const struct unwind_rule unsupported = {.cfa_kind = CFA_UNSUPPORTED};

	*set = (struct rule_set){0};
	rule_set_add_rare(set, &none, ~0U);
	rule_set_add_rare(set, &unsupported, ~0U);
}

u32 rule_set_add_rare(struct rule_set *set, const struct unwind_rule *rule, u32 most)
{
	u64 key = XXH3_64bits(rule, sizeof(*rule));
	u32 number;

	for (;; key++) {
		number = idmap_get(&set->rule_of, key);
		if (!number)
			break;
		if (rule_set_holds(set, number - 1, rule))
			return number - 1;
	}
	if (set->rules.count >= most)
		return RULE_UNSUPPORTED;
	*vec_add(&set->rules) = *rule;
	*idmap_place(&set->rule_of, key) = (u32)set->rules.count;
	return (u32)set->rules.count - 1;
}

void rule_set_release(struct rule_set *set)
{
	vec_release(&set->rules);
	idmap_release(&set->rule_of);
}
