/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which function goes on in which without a call, over the borders of binaries; and what is kept
 * of places for it. Private to lbr/.
 */
#ifndef LBR_PLACES_REACH_H
#define LBR_PLACES_REACH_H

#include "base/idmap.h"
#include "lbr/places.h"

struct place_body {
	u32 binary, function;
};

enum { RECENT_PLACES = 1 << 14, RECENT_REACHES = 1 << 12, RECENT_STEPS = 1 << 14 };

struct recent_place {
	u64 address, generation;
	place_id id; /* 0: none */
};

struct recent_reach {
	u32 from, to; /* bodies, 0: none */
	bool is_reached;
};

struct places {
	/* Short cuts to the maps below, by the low bits of what is looked for. */
	struct recent_place recent[RECENT_PLACES];
	struct recent_reach recent_reaches[RECENT_REACHES];
	struct place_step recent_steps[RECENT_STEPS];
	u64 generation; /* of the mappings of `pid`; 0: not asked for */
	u32 pid;
	const struct process_table *processes;
	const char *symfs;
	VEC(struct place) rows;		   /* row 0 unused */
	VEC(struct code_facts *) binaries; /* row 0, and where a file cannot be read: NULL */
	VEC(struct place_body) bodies;	   /* body - 1 */
	VEC(u64) shifts;		   /* row - 1: from linked to virtual */
	u64 missing;			   /* files that cannot be read */
	struct idmap of_address;	   /* hash of (mappings, virtual address) → place */
	struct idmap of_place;		   /* hash of (binary, linked address) → place */
	struct idmap of_file;		   /* mapped file → binary */
	struct idmap of_body;		   /* binary, function → body */
	struct idmap shift_of;		   /* process, binary → row of shifts */
	struct idmap reached;		   /* body, body → 1: no, 2: yes */
};

/* The body of a function of a binary, made if it has none yet. */
u32 places_body(struct places *places, u32 binary, u32 function);
/* Whether code of `from` can go on in `to`, another body, by jumps: direct ones, those through
 * slots of the dynamic linker, and those to wherever a register says if `to` can be meant. */
bool places_reach(struct places *places, u32 from, u32 to);

#endif
