/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses of processes as places in binaries, and what the code says about them: may this call
 * have led there, who can have called. Every distinct place is looked at once. Private to lbr/.
 */
#ifndef LBR_PLACES_H
#define LBR_PLACES_H

#include "event/event.h"
#include "lbr/code_facts.h"

typedef u32 place_id; /* 0: none */

struct place {
	u64 address;  /* linked; of code without a binary: virtual */
	u32 binary;   /* 0: code that cannot be read */
	u32 function; /* NO_FUNCTION: none */
	u32 body;     /* the same of all binaries, from 1; 0: nothing is known */
	/* Of what somebody takes for a CALL, in a step or by its return address: */
	bool is_read;
	u8 call;	   /* enum instruction_kind of the instruction here */
	u8 call_bytes;	   /* its length, 0: not known */
	u8 pointer;	   /* enum frame_pointer_use */
	bool is_outermost; /* the frame has no caller */
	bool is_signal;	   /* where a signal handler returns to */
	u64 call_target;   /* of a direct call */
	u64 call_before;   /* behind which CALL this is; 0: not looked for, ~0: none */
	u32 calls;	   /* how many can have entered the frame; 0: not looked for */
	u32 alike;	   /* CALLs of its function that lead where this one does; likewise */
	u64 only_call;	   /* who alone can have entered the frame; 0: not looked for, ~0: nobody */
};

struct places;

struct lbr_keeper;

/* An empty set. `symfs`: look for binaries below this folder first; NULL: none. `keeper` of struct
 * lbr_settings. Borrowed, as is the table, which must be fed before it is asked. */
struct places *places_new(const struct process_table *processes, const char *symfs,
			  const struct lbr_keeper *keeper);
/* Reads the code of a large binary of which places will be asked for, while others may ask. */
void places_prepare_code(const struct places *places, const char *path, const struct build_id *id);
/* Keeps what was found out of binaries, when nobody asks any more. */
void places_keep_code(const struct places *places);
/* Knows what `learned` knows, by the same numbers, and finds out more on its own. Both may be asked
 * at the same time; `learned` outlives it. `processes` as above. */
struct places *places_beside(struct places *learned, const struct process_table *processes);
/* An empty set for a part of the recording that `first` is for: the code of binaries is read once
 * for both, which may be asked at the same time. `first` outlives it. */
struct places *places_for_part(struct places *first, const struct process_table *processes);
/* Asks another table from now on, which will hear the same again: what was found in a state of the
 * mappings still holds. */
void places_set_processes(struct places *places, const struct process_table *processes);
/* Frees; NULL is fine. */
void places_free(struct places *places);

/* To be called after the table has heard anything. */
void places_changed(struct places *places);
/* process_table_generation() of a process's mappings. */
u64 places_generation(struct places *places, u32 pid);

/* How many of the files asked for could not be read, or are others than were recorded. */
u64 places_missing(const struct places *places);

/* The place of an address of a process; never 0. */
place_id places_find(struct places *places, u32 pid, u64 address);
/* The same of where a process is executing itself, or another place in its stead: one in the same
 * function, of whose frame the same is known. */
place_id places_leaf(struct places *places, u32 pid, u64 address);
/* What is known of it. Borrowed until the next places_…(). */
const struct place *places_at(const struct places *places, place_id id);
enum { ADDRESS_SEVERAL = 1 };

/* Where a place is in a process, 0 if it is not mapped there, ADDRESS_SEVERAL if its binary is
 * there more than once. */
u64 places_address(struct places *places, u32 pid, place_id id);
/* The same in that copy of the binary that a place of it is in, of which this is the address. */
u64 places_address_beside(struct places *places, u32 pid, place_id id, u64 address);

/* Whether a CALL at `from` can have led to `to`: nothing that is known contradicts it. */
bool places_can_call(const struct places *places, place_id from, place_id to);
/* Whether the frame that began at `entry` can be executing at `now`: in the same function, or in
 * one that it goes on in without a call. */
bool places_can_contain(struct places *places, place_id entry, place_id now);
/* What came of a look at an entry. */
struct place_step {
	u64 from, to, binaries; /* linked addresses, and of what */
	place_id from_place, to_place;
	u32 from_body, to_body; /* of these */
	u32 noted_body;		/* see has_note */
	u8 call_bytes;		/* of from_place, as far as it is known */
	u8 pointer;		/* the same; enum frame_pointer_use */
	bool ends;		/* it is_outermost or is_signal */
	bool can_call;		/* places_can_call() */
	bool is_looked_at;
	bool is_noted; /* the caller's, of frames in to_body; false when it was looked at anew */
	bool has_note; /* the same, of those in noted_body */
};

/* The first `count` entries of a process's snapshot will be looked at. They may be anything; they
 * are borrowed until others take their place. */
void places_expect_steps(struct places *places, u32 pid, const struct branch *entries, u32 count);
/* Looks at the entry of this index. Borrowed until the next places_step(). */
struct place_step *places_step(struct places *places, u32 index);
/* Whether the entry can have entered a frame that executes in `body`: nothing contradicts it. */
bool places_step_fits(struct places *places, const struct place_step *step, u32 body);

/* For the caller to note what it likes about a frame that has no entry: because it has no caller,
 * or for want of more. */
bool *places_end_note(struct places *places, u32 body, bool is_outermost);

/* The CALL in front of a return address, 0 if there is none. */
place_id places_call_before(struct places *places, place_id return_place);

/* What came of a look at a return address: does it lead behind the CALL that entered the frame
 * which executes at `now`? */
struct place_return {
	u64 back, generation; /* the address; of the mappings */
	u32 body;	      /* of `now` */
	place_id call, entry; /* the CALL, 0: none; where it led, 0: the CALL does not say */
	bool is_signal;	      /* a signal handler returns there, of which nothing else is said */
	bool fits;	      /* there is a CALL, and it can have led there */
};

/* Looks at a return address, which may be anything. Borrowed until the next places_return(). */
const struct place_return *places_return(struct places *places, u32 pid, place_id now, u64 back);

/* How many CALLs can have entered the frame that is at `now`; CALLS_UNKNOWN if nobody knows. */
u32 places_calls(struct places *places, place_id now);
/* How many of these are in the function that has the CALL at `from`, which was read; 0 if nobody
 * knows. */
u32 places_calls_from(struct places *places, place_id now, place_id from);
/* The only CALL that can have entered the frame that is at `now`, 0 if there may be several. */
place_id places_only_call(struct places *places, place_id now);

/* What a set for another part has found out, on its way into this one. */
struct place_merge {
	struct places *places;
	const struct places *more;
	u32 *binaries; /* rows of `more` → rows of `places` */
};

/* Takes over which binaries `more` has met, and where. `more` was made by places_for_part(). */
struct place_merge places_merge(struct places *places, const struct places *more);
/* The number here of a place that has another one there; 0: 0. */
place_id places_merged(const struct place_merge *merge, place_id id);
/* The same of a body. */
u32 places_merged_body(const struct place_merge *merge, u32 body);
/* Frees what was needed for that. */
void place_merge_release(struct place_merge *merge);

#endif
