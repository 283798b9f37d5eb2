/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions whose addresses are written as distances of 32 bits: in tables, from where the table
 * begins (clang's relative vtables, tables of handlers in assembly), or each from where it stands
 * (Swift's metadata). Private to lbr/.
 */
#ifndef LBR_CODE_TABLES_H
#define LBR_CODE_TABLES_H

#include "lbr/code_starts.h"

/* Which addresses in a binary's data somebody has: tables may begin there. */
struct code_bases {
	u64 first, count; /* linked addresses */
	u64 *bits;	  /* one for each where a table may begin; NULL: there was nothing made */
	u64 *taken;	  /* the same of those that code takes itself */
};

/* Makes room for all data of an image; code_bases_release() it. Returns false, and makes none, if
 * that spans more than CODE_SPAN_MAX_BYTES. */
bool code_bases_make(struct code_bases *bases, const struct code_image *image);
/* Frees; harmless on a zeroed struct. */
void code_bases_release(struct code_bases *bases);

/* Behind all that there is room for. */
static inline u64 code_bases_end(const struct code_bases *bases)
{
	return bases->first + bases->count;
}

/* Whether there is room for an address: it is one of the data. */
static inline bool code_bases_has(const struct code_bases *bases, u64 address)
{
	return address - bases->first < bases->count;
}

/* Notes an address that stands somewhere, or that code takes; what is none of the data is passed
 * over. Threads may do this at the same time. */
void code_bases_note(const struct code_bases *bases, u64 address, bool is_taken);

/*
 * Finds the functions that a word of the data leads to by its distance, after all bases were noted;
 * some lead there by chance, which is safe. Of functions nothing is read but where they begin and
 * end, so others may use what else is known of them.
 *
 * led_to  one for each function: set to true
 */
void code_tables_find(const struct code_facts *facts, const struct code_starts *starts,
		      const struct code_bases *bases, bool *led_to);

#endif
