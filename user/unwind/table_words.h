/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A binary's unwind table as the run of words that the BPF programs read: rules, index, rows. See
 * bpfprof/unwind_table.h for the layout. Pure.
 */
#ifndef UNWIND_TABLE_WORDS_H
#define UNWIND_TABLE_WORDS_H

#include "unwind/rows.h"

struct table_words {
	u32 *words;
	void *memory; /* that they lie in, if they are not an allocation of their own */
	u32 word_count;
	u32 row_count;		   /* of the words, as they were written */
	u32 dense_pages;	   /* had too many rows: the last that fits says CFA_UNSUPPORTED */
	struct unwind_place place; /* first_word is 0: who puts the words somewhere fills it in */
};

/*
 * Writes the words of a table.
 *
 * rules      of this table only
 * ret_words  table_words_release() them
 * Returns 0, -ENODATA (a table without rows) or -E2BIG (more than UNWIND_TABLE_WORDS_MAX words).
 */
int table_words_make(const struct unwind_table *table, const struct rule_set *rules,
		     struct table_words *ret_words);
/* Frees the memory. For CLEANUP too. */
void table_words_release(struct table_words *words);

#endif
