/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which function goes on in which without a call, over the borders of binaries; and what is kept
 * of places for it. Private to lbr/.
 */
#ifndef LBR_PLACES_REACH_H
#define LBR_PLACES_REACH_H

#include "base/idmap.h"
#include "lbr/places.h"

#include <pthread.h>

/* An entry by what decides over it, as struct place_step. */
struct step_key {
	u64 from, to, binaries, hash;
};

struct place_body {
	u32 binary, function;
	bool notes[2]; /* see places_end_note() */
};

enum {
	RECENT_PLACES = 1 << 14,
	RECENT_SPANS = 1 << 8,
	RECENT_KINDS = 1 << 12,
	RECENT_REACHES = 1 << 12,
	RECENT_RETURNS = 1 << 12
};

struct recent_place {
	u64 address, generation;
	place_id id; /* 0: none */
};

/* Addresses of a process that are the code of one segment of a binary. */
struct recent_span {
	u64 generation; /* 0: none */
	u64 first, bytes;
	u64 shift; /* from linked to virtual */
	u32 pid, binary;
};

struct recent_kind {
	u32 kind; /* code_facts_kind(); 0: none */
	u32 binary;
	place_id id;
};

struct recent_reach {
	u32 from, to; /* bodies, 0: none */
	bool is_reached;
};

/* Where the code of a binary is in a process. */
struct place_shift {
	u64 generation; /* of the mappings that were looked at; 0: none */
	u64 shift;	/* from linked to virtual, if … */
	u32 copies;	/* … it is there once */
};

/* A binary that was read before a mapping of it was met. */
struct prepared_code {
	char *path;
	struct build_id id;
	struct code_facts *facts; /* NULL: it cannot be read, or was taken */
};

/* What was read of binaries, for all that ask about places of one recording. */
struct code_shelf {
	pthread_mutex_t lock;	       /* who reads of a binary what was not read yet, holds it */
	struct idmap of_file;	       /* mapped file → row + 1 */
	VEC(struct code_facts *) rows; /* NULL: it cannot be read */
	VEC(struct prepared_code) prepared;
	const struct lbr_keeper *keeper;
};

struct places {
	/* Short cuts to the maps below, by the low bits of what is looked for. */
	struct recent_place recent[RECENT_PLACES];
	struct recent_span recent_spans[RECENT_SPANS];
	struct recent_kind recent_kinds[RECENT_KINDS];
	struct recent_reach recent_reaches[RECENT_REACHES];
	struct place_return recent_returns[RECENT_RETURNS];
	struct place_step *steps; /* by hash; what comes later takes the place of what is there */
	u32 step_slots, step_count;
	VEC(struct step_key) expected; /* steps of `expected_pid` */
	const struct branch *entries;  /* of these */
	u32 expected_pid;
	const struct recent_span *near; /* the last one, of this generation of this `pid` */
	u64 generation;			/* of the mappings of `pid`; 0: not asked for */
	u32 pid;
	const struct process_table *processes;
	const char *symfs;
	VEC(struct place) rows;		   /* row 0 unused */
	VEC(struct code_facts *) binaries; /* row 0, and where a file cannot be read: NULL */
	VEC(u32) files;			   /* of these rows; row 0 unused */
	VEC(struct place_body) bodies;	   /* body - 1 */
	bool notes_of_none[2];		   /* of what is no body */
	VEC(struct place_shift) shifts;	   /* row - 1 */
	u64 missing;			   /* files that cannot be read */
	struct idmap of_place;		   /* hash of (binary, linked address) → place */
	struct idmap of_file;		   /* mapped file → binary */
	struct idmap of_body;		   /* binary, function → body */
	struct idmap shift_of;		   /* process, binary → row of shifts */
	struct idmap reached;		   /* body, body → 1: no, 2: yes */
	struct idmap of_kind;		   /* binary, code_facts_kind() → place */
	struct code_shelf *shelf;
	bool owns_shelf; /* the first of all that have it */
};

/* Holds no address. */
extern const struct recent_span places_no_span;

/* Two words as one, of which all bits are used. */
static inline u64 place_hash(u64 a, u64 b)
{
	u64 mixed = (a ^ b * 0x9e3779b97f4a7c15ULL) * 0xff51afd7ed558ccdULL;

	return mixed ^ mixed >> 32;
}

/* What is around an address of a process. Borrowed until the next places_…(). */
const struct recent_span *places_span(struct places *places, u32 pid, u64 address);
/* Has the instruction read that somebody takes for a CALL. Returns its place. */
place_id places_read_call(struct places *places, place_id id);
/* The place of a linked address of a binary. */
place_id places_in(struct places *places, u32 binary, u64 address);

/* Makes room for more steps, at first or where there is too little. */
void place_steps_grow(struct places *places);
/* In place of what was copied with the struct around it: what `learned` knows. */
void place_steps_copy(struct places *places, const struct places *learned);
/* Frees them. */
void place_steps_release(struct places *places);

/* An empty one. */
struct code_shelf *code_shelf_new(const struct lbr_keeper *keeper);
/* Frees. */
void code_shelf_free(struct code_shelf *shelf);

/* The row of the file that is mapped, which is read if nobody has read it yet. */
u32 places_binary(struct places *places, const struct mapped *mapped);
/* Adds a file that has no row yet; `facts` as struct code_shelf. Returns its row. */
u32 places_add_binary(struct places *places, u32 file, struct code_facts *facts);
/* Adds what is known of a place, unless that is there. Returns its number. */
place_id places_add(struct places *places, const struct place *place);

/* The body of a function of a binary, made if it has none yet. */
u32 places_body(struct places *places, u32 binary, u32 function);
/* Whether code of body `from` can go on in body `to`, as was found out before or is now. */
bool places_reaches(struct places *places, u32 from, u32 to);
/* Whether code of `from` can go on in `to`, another body, by jumps: direct ones, those through
 * slots of the dynamic linker, and those to wherever a register says if `to` can be meant. */
bool places_reach(struct places *places, u32 from, u32 to);

#endif
