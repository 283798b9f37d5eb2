/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The number formats of call frame information.
 */
#ifndef UNWIND_CFI_NUMBER_H
#define UNWIND_CFI_NUMBER_H

#include "unwind/eh_frame.h"

/* cfi_uleb() of any length. */
u64 cfi_uleb_long(struct cursor *cursor);
/* The next signed LEB128. */
s64 cfi_sleb(struct cursor *cursor);

/* The next unsigned LEB128; more than ten bytes set `overrun`. Source: DWARF 5, 7.6. */
static inline u64 cfi_uleb(struct cursor *cursor)
{
	/* Most are one byte. */
	if (cursor_left(cursor) && !(*cursor->next & 0x80) && !cursor->overrun)
		return *cursor->next++;
	return cfi_uleb_long(cursor);
}

/*
 * The next pointer in a DW_EH_PE encoding. Sets `overrun` for what is cut or not supported
 * (indirect, aligned, relative to an unknown base). `section` and the cursor's place in it give the
 * base. Source: LSB 5.0 core, 10.5.
 */
u64 cfi_pointer(struct cursor *cursor, u8 encoding, const struct cfi_section *section);

#endif
