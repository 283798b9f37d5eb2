/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the code of one binary says about calls: functions, where they jump to, who calls them.
 * Addresses are linked ones. Functions are numbered by address, from 0. Pure but for reading.
 *
 * A function is what call frame information or a symbol says it is, a stub of a PLT, or the gap
 * between these. What is costly to know is found out when it is first asked for.
 */
#ifndef LBR_CODE_FACTS_H
#define LBR_CODE_FACTS_H

#include "base/address_index.h"
#include "base/idmap.h"
#include "binary/binary.h"
#include "lbr/instruction.h"
#include "unwind/unwind.h"

enum { NO_FUNCTION = ~0U, CALLS_UNKNOWN = ~0U };

/* Where else a function goes on: it jumps out of itself. */
struct code_exit {
	u64 target;		      /* an address of this binary, 0: elsewhere */
	const struct code_slot *slot; /* through a word of the dynamic linker; NULL: directly */
};

enum {
	FUNCTION_IS_GAP = 1,	     /* nothing is known of it */
	FUNCTION_IS_STUB = 2,	     /* of a PLT */
	FUNCTION_IS_EXPORTED = 4,    /* others can call it by name */
	FUNCTION_IS_READ = 8,	     /* `exits` and the next are known */
	FUNCTION_JUMPS_FAR = 16,     /* to where a register or memory says, which is no switch */
	FUNCTION_IS_POINTED_AT = 32, /* its address is taken; known once callers were looked for */
	FUNCTION_GOES_ON = 64,	     /* behind its end: nothing there keeps it; once it is read */
};

struct code_function {
	u64 start, end;
	u32 flags;
	u32 exit_first, exit_count; /* rows of code_facts.exits */
	/* Known once callers were looked for: */
	u32 calls;	/* places that may call it directly */
	u64 call;	/* the last of them */
	u32 jumps_from; /* the only other function that jumps into it; NO_FUNCTION: none */
	bool has_jumps; /* … if there is one, or … */
	bool has_many;	/* … there are several */
};

/* What the frame pointer is at an instruction. */
enum frame_pointer_use {
	POINTER_UNKNOWN, /* or something else */
	POINTER_FRAME,	 /* points to this frame: caller's frame pointer, then return address */
	POINTER_CALLERS, /* still the caller's */
};

struct code_frame {
	u8 pointer;	   /* enum frame_pointer_use */
	bool is_outermost; /* it has no caller */
	bool is_signal;	   /* what the kernel calls a signal handler from */
	u64 end;	   /* up to where all this is the same; 0: not known */
};

struct code_facts {
	struct code_image image;
	VEC(struct code_function) functions; /* ascending, without overlap */
	struct address_index starts;	     /* of them */
	VEC(struct code_exit) exits;
	struct function_rules *rules;
	struct idmap exported; /* hash of a name, plus its version → row of image.symbols + 1 */
	u32 *kinds;	       /* see code_facts_kind(), of 16 bytes each; NULL: there are none */
	u64 kinds_first, kinds_count;
	struct callers_search *callers_search; /* that goes on; NULL: none */
	bool has_exported;		       /* which is filled */
	bool has_callers;		       /* they were looked for … */
	bool has_found_callers;		       /* … in the code, so they may be kept */
	bool is_loader;			       /* the dynamic linker */
};

struct lbr_keeper;

/* Takes over the image. `keeper` of struct lbr_settings, used now. Free with code_facts_free(). */
struct code_facts *code_facts_new(struct code_image *image, bool is_loader,
				  const struct lbr_keeper *keeper);
/* Frees; NULL is fine. */
void code_facts_free(struct code_facts *facts);

/* The function that holds an address, NO_FUNCTION if no code is there. */
u32 code_facts_function(const struct code_facts *facts, u64 address);
/* The same function with its exits read. */
const struct code_function *code_facts_read_function(struct code_facts *facts, u32 function);
/* Whether a direct jump leads from a function into another one, by its four bytes of distance.
 * False if there is none, and where that is not sure without reading the function. */
bool code_facts_jumps_into(const struct code_facts *facts, u32 from, u32 to);
/* Makes ready for the next: lists what is exported. */
void code_facts_list_exported(struct code_facts *facts);
/* The exported function of a name, of which there may be several versions, counted from 0; NULL if
 * there is none. */
const struct code_symbol *code_facts_exported(struct code_facts *facts, const char *name,
					      u32 version);

/* Decodes the instruction at an address. Returns false if there is none. */
bool code_facts_instruction(const struct code_facts *facts, u64 address,
			    struct instruction *ret_instruction);
/* The address of the CALL that a return address is behind of; 0: what is in front is no CALL. */
u64 code_facts_call_before(const struct code_facts *facts, u64 return_address);

/* What is known of the frame while the instruction at an address runs. */
struct code_frame code_facts_frame(const struct code_facts *facts, u64 address);

enum { KIND_NOT_ASKED = 0, KIND_MIXED = 1 };

/*
 * What function an address is in and what is known of the frame there, as one number that is equal
 * where both are. KIND_MIXED: that is not the same at all addresses near by. KIND_NOT_ASKED: see
 * the next. May be asked while another thread finds kinds.
 */
u32 code_facts_kind(const struct code_facts *facts, u64 address);
/* Finds out a kind that was not asked for before. */
u32 code_facts_find_kind(struct code_facts *facts, u64 address);

/* How many CALLs in the world can have entered the frame of this function, at most; CALLS_UNKNOWN
 * if there may be others than can be counted. */
u32 code_facts_calls(struct code_facts *facts, u32 function);
/* Where the function begins that is entered when this one is: it may be a part of that. */
u64 code_facts_entry(const struct code_facts *facts, u32 function);
/* How many CALLs of a function lead to an address; 0 if it cannot be decoded. */
u32 code_facts_calls_to(const struct code_facts *facts, u32 function, u64 target);
/* The only CALL in the world that can have entered the frame of this function; 0 if there may be
 * several. */
u64 code_facts_only_call(struct code_facts *facts, u32 function);
/* Whether somebody may have the function's address: it can be jumped to from anywhere. */
bool code_facts_is_pointed_at(struct code_facts *facts, u32 function);

#endif
