/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rule that a table has for a place, found in its rows: what the BPF programs find in its words
 * must be the same.
 */
#ifndef TESTS_TABLE_RULE_H
#define TESTS_TABLE_RULE_H

#include "unwind/unwind.h"

/* The number of the rule that holds at a file offset; 0 if none does. */
static inline u32 table_rule(const struct unwind_table *table, u64 file_offset)
{
	u64 page = (file_offset >> UNWIND_PAGE_BITS) - table->first_page;
	u32 in_page = file_offset & ((1 << UNWIND_PAGE_BITS) - 1), number = 0;

	if (page >= table->page_count)
		return 0;
	for (u32 row = table->page_rows[page];
	     row < table->page_rows[page + 1] && table->rows[row] >> UNWIND_RULE_BITS <= in_page;
	     row++)
		number = unwind_row_rule(table->rows[row]);
	return number;
}

#endif
