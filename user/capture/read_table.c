/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From an image to the words of its unwind table.
 */
#include "capture/read_table.h"

#include "base/memory.h"

enum { RULES_MAX = 1 << 16 }; /* of one file; real ones have some hundreds */

int read_table(struct bytes image, struct table_words *ret_words)
{
	CLEANUP(unwind_table_freep) struct unwind_table *table = NULL;
	CLEANUP(rule_set_release) struct rule_set rules;
	int error;

	rule_set_init(&rules);
	error = unwind_table_read(image, &rules, RULES_MAX, &table);
	return error ? error : table_words_make(table, &rules, ret_words);
}
