/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * LEB128 and DW_EH_PE pointers.
 */
#include "unwind/cfi_number.h"

/* Source: LSB 5.0 core, table 10-1 and 10-2. */
enum {
	PE_FORMAT_MASK = 0x0f,
	PE_ABSOLUTE = 0x00,
	PE_ULEB128 = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB128 = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_BASE_MASK = 0x70,
	PE_PC_RELATIVE = 0x10,
	PE_DATA_RELATIVE = 0x30,
	PE_INDIRECT = 0x80,
};

u64 cfi_uleb_long(struct cursor *cursor)
{
	u64 value = 0;
	u8 byte;

	for (u32 shift = 0; shift < 64; shift += 7) {
		byte = cursor_u8(cursor);
		value |= (u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	cursor->overrun = true;
	return 0;
}

s64 cfi_sleb(struct cursor *cursor)
{
	u64 value = 0;
	u8 byte;

	for (u32 shift = 0; shift < 64; shift += 7) {
		byte = cursor_u8(cursor);
		value |= (u64)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (byte & 0x40 && shift + 7 < 64)
			value |= ~0ULL << (shift + 7);
		return (s64)value;
	}
	cursor->overrun = true;
	return 0;
}

static u64 formatted(struct cursor *cursor, u8 format)
{
	switch (format) {
	case PE_ABSOLUTE:
	case PE_UDATA8:
	case PE_SDATA8:
		return cursor_u64(cursor);
	case PE_ULEB128:
		return cfi_uleb(cursor);
	case PE_SLEB128:
		return (u64)cfi_sleb(cursor);
	case PE_UDATA2:
		return cursor_u16(cursor);
	case PE_SDATA2:
		return (u64)(int16_t)cursor_u16(cursor);
	case PE_UDATA4:
		return cursor_u32(cursor);
	case PE_SDATA4:
		return (u64)(s32)cursor_u32(cursor);
	}
	cursor->overrun = true;
	return 0;
}

u64 cfi_pointer(struct cursor *cursor, u8 encoding, const struct cfi_section *section)
{
	u64 place = section->address + (u64)(cursor->next - section->bytes.start);
	u64 value = formatted(cursor, encoding & PE_FORMAT_MASK);

	switch (encoding & (PE_BASE_MASK | PE_INDIRECT)) {
	case 0:
		return value;
	case PE_PC_RELATIVE:
		return value + place;
	case PE_DATA_RELATIVE:
		cursor->overrun |= !section->data_address;
		return value + section->data_address;
	}
	cursor->overrun = true;
	return 0;
}
