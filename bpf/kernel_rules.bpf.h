/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's own unwind rules (ORC, x86-64), out of its tables, as rules of ours.
 */
#ifndef KERNEL_RULES_BPF_H
#define KERNEL_RULES_BPF_H

#include "kernel_search.bpf.h"

#include <bpf/bpf_core_read.h>

enum {
	ORC_LOOKED_AT = 64,
	/* Source: arch/x86/include/asm/orc_types.h, Linux 4.14 to 6.18, and what 7.3 has. */
	ORC_REG_UNDEFINED = 0,
	ORC_REG_OLD_PREV_SP = 1,
	ORC_REG_NEW_SP = 3,
	ORC_REG_BP = 4,
	ORC_REG_OLD_SP = 5,
	ORC_REG_NEW_PREV_SP = 8,
	ORC_REG_OLD_BP_INDIRECT = 8,
	ORC_REG_OLD_SP_INDIRECT = 9,
};

/* How entries number registers. BTF does not tell; but most entries name the stack pointer. */
enum orc_numbers { ORC_NUMBERS_UNKNOWN, ORC_NUMBERS_OLD, ORC_NUMBERS_NEW, ORC_NUMBERS_FOREIGN };

/* Written by whoever needs it first, read here only. */
volatile u32 orc_numbers = ORC_NUMBERS_UNKNOWN;

/* What lies where a rule says that the caller's stack begins. */
enum kernel_frame {
	KERNEL_FRAME_UNKNOWN, /* nothing plain */
	KERNEL_FRAME_LAST,
	KERNEL_FRAME_CALLED,	/* a return address, below */
	KERNEL_FRAME_REGISTERS, /* saved ones */
	KERNEL_FRAME_INDIRECT,	/* as called; but the rule says where in memory it begins */
};

/* The kernel's rule for a place in its code, as a word that is read and written at once. */
union kernel_rule {
	struct {
		u16 tag;	/* which of the places that have this row; 0: of none */
		u8 frame;	/* enum kernel_frame */
		u8 base : 4;	/* DWARF number of the register that the CFA is counted from */
		u8 fp_kind : 4; /* enum saved_kind, of the frame pointer */
		s16 cfa_offset, fp_offset;
	};
	u64 word;
};
_Static_assert(sizeof(union kernel_rule) == sizeof(u64), "a word");

#if defined(__TARGET_ARCH_x86)

/* Whether an entry says that the stack ends. Numbers of types are others since Linux 6.4, where
 * `end` has become one. Source: the same, and arch/x86/kernel/unwind_orc.c. */
static __always_inline bool orc_is_end(const struct orc_entry *entry)
{
	if (bpf_core_field_exists(entry->end))
		return BPF_CORE_READ_BITFIELD(entry, sp_reg) == ORC_REG_UNDEFINED &&
		       BPF_CORE_READ_BITFIELD(entry, end);
	return BPF_CORE_READ_BITFIELD(entry, type) == 1;
}

/* What else an entry can be: 0 is a frame that was called, 1 are saved registers. */
static __always_inline u32 orc_type(const struct orc_entry *entry)
{
	u32 type = (u32)BPF_CORE_READ_BITFIELD(entry, type);

	return bpf_core_field_exists(entry->end) ? type : type - 2;
}

/* What lies at the CFA. Code that aligns its stack by hand leaves the CFA itself in memory, and so
 * do calls onto another stack; how Linux 7.3 numbers these is not known. */
static __always_inline u8 orc_frame(u32 base, u32 type, u32 sp)
{
	if (base == sp || base == ORC_REG_BP)
		return type == 1 ? KERNEL_FRAME_REGISTERS : KERNEL_FRAME_CALLED;
	if (orc_numbers == ORC_NUMBERS_OLD && !type &&
	    (base == ORC_REG_OLD_BP_INDIRECT || base == ORC_REG_OLD_SP_INDIRECT))
		return KERNEL_FRAME_INDIRECT;
	return KERNEL_FRAME_UNKNOWN;
}

/* The entry as a rule of ours. */
static __always_inline union kernel_rule orc_rule(const struct orc_entry *entry)
{
	union kernel_rule rule = {.word = 0};
	u32 base = (u32)BPF_CORE_READ_BITFIELD(entry, sp_reg);
	u32 saved = (u32)BPF_CORE_READ_BITFIELD(entry, bp_reg);
	u32 sp = orc_numbers == ORC_NUMBERS_NEW ? ORC_REG_NEW_SP : ORC_REG_OLD_SP;
	u32 at_cfa = orc_numbers == ORC_NUMBERS_NEW ? ORC_REG_NEW_PREV_SP : ORC_REG_OLD_PREV_SP;
	u32 type = orc_type(entry);

	if (orc_is_end(entry))
		rule.frame = KERNEL_FRAME_LAST;
	if (orc_is_end(entry) || type > 1 ||
	    (saved != ORC_REG_UNDEFINED && (type == 1 || (saved != at_cfa && saved != ORC_REG_BP))))
		return rule;
	rule.frame = orc_frame(base, type, sp);
	rule.base = base == sp || base == ORC_REG_OLD_SP_INDIRECT ? X86_64_SP : X86_64_FP;
	rule.cfa_offset = entry->sp_offset;
	rule.fp_kind = saved == at_cfa	     ? SAVED_AT_CFA
		       : saved == ORC_REG_BP ? SAVED_AT_FP
					     : SAVED_SAME;
	rule.fp_offset = entry->bp_offset;
	return rule;
}

/* Reads an entry into the scratch. */
static __always_inline s64 read_orc(struct scratch *scratch, u32 row)
{
	u64 bytes = bpf_core_type_size(struct orc_entry);

	if (!bpf_core_type_exists(struct orc_entry) || bytes > sizeof(scratch->kernel_walk.entry))
		return 1;
	return bpf_probe_read_kernel(&scratch->kernel_walk.entry, bytes,
				     (const void *)(settings.kernel_rules.entries + row * bytes));
}

/* Looks at the base of one entry. Global, see move_window(). */
__noinline int look_at_orc(u32 row)
{
	struct scratch *scratch = scratch_here();
	u32 base;

	if (!scratch || read_orc(scratch, row))
		return 1;
	base = (u32)BPF_CORE_READ_BITFIELD(
		(const struct orc_entry *)(const void *)&scratch->kernel_walk.entry, sp_reg);
	scratch->kernel_walk.by_old_sp += base == ORC_REG_OLD_SP;
	scratch->kernel_walk.by_new_sp += base == ORC_REG_NEW_SP;
	return 0;
}

/* Six entries in seven have the stack pointer as their base, one in a hundred another register. */
static __always_inline void learn_orc_numbers(struct scratch *scratch)
{
	scratch->kernel_walk.by_old_sp = 0;
	scratch->kernel_walk.by_new_sp = 0;
	for (u32 i = 0; i < ORC_LOOKED_AT; i++)
		if (look_at_orc((u32)((u64)settings.kernel_rules.count * i / ORC_LOOKED_AT)))
			break;
	orc_numbers = scratch->kernel_walk.by_old_sp > ORC_LOOKED_AT / 2   ? ORC_NUMBERS_OLD
		      : scratch->kernel_walk.by_new_sp > ORC_LOOKED_AT / 2 ? ORC_NUMBERS_NEW
									   : ORC_NUMBERS_FOREIGN;
}

#endif
#endif
