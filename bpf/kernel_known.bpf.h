/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's unwind rules that stacks were walked by of late, of all CPUs.
 */
#ifndef KERNEL_KNOWN_BPF_H
#define KERNEL_KNOWN_BPF_H

#include "kernel_rules.bpf.h"

/* Row and tag together are all bits of a place, mixed: no two places have both. */
enum { KERNEL_TAG_BITS = 15, KERNEL_PLACE_BITS = KERNEL_RULES_BITS + KERNEL_TAG_BITS };
_Static_assert(ORC_CODE_BYTES <= 1 << KERNEL_PLACE_BITS, "two places have one row and tag");

#if defined(__TARGET_ARCH_x86)

/* The bits of a place in the kernel's code, mixed. */
static __always_inline u32 kernel_place(u64 address)
{
	u32 mixed = (u32)(address - settings.kernel_rules.text_start) * 0x9e3779b1U;

	return mixed & ((1U << KERNEL_PLACE_BITS) - 1);
}

static __always_inline u16 kernel_tag(u32 place)
{
	return (u16)(place << 1 | 1);
}

/* Where the rule for a place is remembered. */
static __always_inline volatile u64 *known_kernel_rule(u32 place)
{
	u32 row = place >> KERNEL_TAG_BITS;

	return bpf_map_lookup_elem(&known_kernel_rules, &row);
}

/* Remembers the kernel's rule for `address`. Global, see move_window(). */
__noinline int learn_kernel_rule(u64 address)
{
	struct scratch *scratch = scratch_here();
	u32 place = kernel_place(address);
	volatile u64 *known = known_kernel_rule(place);
	union kernel_rule rule;

	if (!scratch || !known)
		return 1;
	if (orc_numbers == ORC_NUMBERS_UNKNOWN)
		learn_orc_numbers(scratch);
	if (orc_numbers == ORC_NUMBERS_FOREIGN)
		return 1;
	if (find_orc(scratch, address) || read_orc(scratch, scratch->kernel_walk.first))
		return 1;
	rule = orc_rule((const void *)&scratch->kernel_walk.entry);
	rule.tag = kernel_tag(place);
	*known = rule.word;
	return 0;
}

/* The kernel's rule for a place in its code, KERNEL_FRAME_UNKNOWN if there is none. */
static __always_inline union kernel_rule kernel_rule_at(u64 address)
{
	u32 place = kernel_place(address);
	const volatile u64 *known = known_kernel_rule(place);
	union kernel_rule rule = {.word = 0};

	if (!known)
		return rule;
	rule.word = *known;
	if (rule.tag != kernel_tag(place) && !learn_kernel_rule(address))
		rule.word = *known;
	if (rule.tag != kernel_tag(place)) /* not to be found, or another CPU's meanwhile */
		rule.word = 0;
	return rule;
}

#endif
#endif
