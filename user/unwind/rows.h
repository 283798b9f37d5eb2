/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwind rows of one binary, by file offset.
 */
#ifndef UNWIND_ROWS_H
#define UNWIND_ROWS_H

#include "unwind/eh_frame.h"
#include "unwind/rule_set.h"

struct unwind_table {
	u32 first_page; /* file offset >> UNWIND_PAGE_BITS of the first page */
	u32 page_count;
	u32 *page_rows;	  /* page_count + 1: the first row of each page, and the row count */
	unwind_row *rows; /* ascending in each page; a page's first row holds from its start */
	u32 row_count;
	struct cfi_result result;
};

/*
 * Reads an ELF image's .eh_frame, and its .debug_frame for functions that are not there, into rows.
 *
 * rules      takes the rules, at most `most_rules`
 * ret_table  unwind_table_free() it
 * Returns 0, -ENODATA (no call frame information), -ENOTSUP (not a 64-bit x86 or Arm binary),
 * -EBADMSG (not ELF, or malformed), -EFBIG (text above 4 GiB of file offset, or more than
 * CFI_BYTES_MAX of call frame information).
 */
int unwind_table_read(struct bytes image, struct rule_set *rules, u32 most_rules,
		      struct unwind_table **ret_table);
/* Frees; NULL is fine. */
void unwind_table_free(struct unwind_table *table);
/* For CLEANUP. */
void unwind_table_freep(struct unwind_table **table);

/* The number of the rule that holds at a file offset; 0 if none does. */
u32 unwind_table_find(const struct unwind_table *table, u64 file_offset);

#endif
