/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The entries of .eh_frame and .debug_frame: CIEs, read once each, and the FDEs that refer to them.
 */
#include "unwind/eh_frame.h"

#include "base/idmap.h"
#include "base/vec.h"
#include "unwind/cfi_number.h"
#include "unwind/cfi_program.h"

#include <errno.h>

/* No processor has longer instructions, so that a larger factor is no factor. */
enum { CODE_ALIGN_MAX = 16 };

struct cie {
	struct cfi_program program; /* without instructions and addresses: those of an FDE */
	struct cfi_state initial;
	u8 pointer_encoding;
	bool has_augmentation;
	bool is_known; /* what FDEs look like is known */
};

struct reading {
	const struct cfi_section *section;
	struct cfi_result *result;
	const struct cfi_taker *taker;
	struct idmap cie_of; /* offset of the entry → row of `cies` + 1 */
	VEC(struct cie) cies;
	u64 last_offset; /* of the CIE found last, whose row is */
	size_t last_row;
	u64 cie_bytes; /* read so far */
};

/* One entry: where it is and what comes behind its length. */
struct entry {
	u64 offset;	    /* of the entry in the section */
	struct bytes bytes; /* behind the CIE id */
	u64 cie_offset;
	bool is_cie, is_end;
};

/* The entry at the cursor, and steps over it; `overrun` if it is cut. */
static struct entry entry_next(struct cursor *cursor, const struct cfi_section *section)
{
	struct entry entry = {.offset = (u64)(cursor->next - section->bytes.start)};
	u64 length = cursor_u32(cursor), id, id_offset;
	bool is_64 = length == 0xffffffff;
	struct cursor inside;
	const u8 *start;

	if (is_64)
		length = cursor_u64(cursor);
	start = cursor_take(cursor, length);
	/* .eh_frame ends with a zero length; .debug_frame knows no such end. */
	entry.is_end = length == 0 && !section->is_debug_frame;
	if (!start || length == 0)
		return entry;
	inside = cursor_of((struct bytes){start, length});
	id_offset = (u64)(start - section->bytes.start);
	id = is_64 && section->is_debug_frame ? cursor_u64(&inside) : cursor_u32(&inside);
	if (section->is_debug_frame) {
		entry.is_cie = id == (is_64 ? ~0ULL : 0xffffffffULL);
		entry.cie_offset = id;
	} else {
		entry.is_cie = id == 0;
		entry.cie_offset = id_offset - id;
	}
	entry.bytes = (struct bytes){inside.next, cursor_left(&inside)};
	cursor->overrun |= inside.overrun;
	return entry;
}

/* The letters of a CIE's augmentation and their data. Returns false for one that is not known.
 * Source: LSB 5.0 core, 10.6.1.1.1; 'B' is AArch64's pointer authentication with the B key. */
static bool augmentation_read(struct cie *cie, const char *letters, struct cursor *cursor,
			      const struct cfi_section *section)
{
	u64 length = *letters == 'z' ? cfi_uleb(cursor) : 0;
	const u8 *behind = cursor->next + (length <= cursor_left(cursor) ? length : 0);

	if (*letters == 0)
		return true;
	if (*letters != 'z')
		return false;
	cie->has_augmentation = true;
	for (letters++; *letters; letters++) {
		if (*letters == 'R')
			cie->pointer_encoding = cursor_u8(cursor);
		else if (*letters == 'L')
			cursor_u8(cursor);
		else if (*letters == 'P')
			cfi_pointer(cursor, cursor_u8(cursor) & 0x7f, section);
		else if (*letters == 'S')
			cie->initial.rule.is_signal = true;
		else if (*letters != 'B')
			break; /* its data has a length: step over it and what follows */
	}
	if (cursor->next > behind || !cursor_take(cursor, (u64)(behind - cursor->next)))
		cursor->overrun |= cursor->next != behind;
	return true;
}

static struct cie cie_read(const struct entry *entry, struct reading *reading)
{
	const struct cfi_section *section = reading->section;
	struct cursor cursor = cursor_of(entry->bytes);
	struct cie cie = {.program = {.section = section},
			  .initial = cfi_state_new(section->machine)};
	const char *letters;
	u8 version;

	version = cursor_u8(&cursor);
	letters = (const char *)cursor.next;
	while (cursor_u8(&cursor))
		;
	if (version == 4 && (cursor_u8(&cursor) != 8 || cursor_u8(&cursor) != 0))
		return cie; /* addresses of another size, or segments */
	cie.program.code_align = cfi_uleb(&cursor);
	cie.program.data_align = cfi_sleb(&cursor);
	cie.program.return_register = version == 1 ? cursor_u8(&cursor) : cfi_uleb(&cursor);
	if (cursor.overrun || (version != 1 && version != 3 && version != 4) ||
	    cie.program.code_align > CODE_ALIGN_MAX ||
	    !augmentation_read(&cie, letters, &cursor, section) || cursor.overrun)
		return cie;
	cie.program.pointer_encoding = cie.pointer_encoding;
	cie.program.instructions = (struct bytes){cursor.next, cursor_left(&cursor)};
	cie.is_known = true;
	if (cfi_program_run(&cie.program, &cie.initial, reading->result))
		cie.initial.cfa_reason = CFI_BROKEN;
	return cie;
}

/* Reads the CIE at an offset. Returns NULL if CIEs overlap: then reading each could take time
 * without end. */
static const struct cie *cie_add(struct reading *reading, u64 offset)
{
	struct cursor cursor = cursor_of(reading->section->bytes);
	struct entry entry;

	cursor.next += offset;
	entry = entry_next(&cursor, reading->section);
	reading->cie_bytes += sizeof(u32) + entry.bytes.length;
	if (reading->cie_bytes > reading->section->bytes.length)
		return NULL;
	*vec_add(&reading->cies) = entry.is_cie && !cursor.overrun ? cie_read(&entry, reading)
								   : (struct cie){0};
	reading->last_row = reading->cies.count - 1;
	*idmap_place(&reading->cie_of, offset) = (u32)reading->cies.count;
	return &reading->cies.items[reading->last_row];
}

/* The CIE at an offset of the section, read if it is new; NULL as cie_add(). */
static const struct cie *cie_at(struct reading *reading, u64 offset)
{
	u32 known;

	if (reading->cies.count && offset == reading->last_offset)
		return &reading->cies.items[reading->last_row];
	reading->last_offset = offset;
	known = idmap_get(&reading->cie_of, offset);
	if (!known)
		return cie_add(reading, offset);
	reading->last_row = known - 1;
	return &reading->cies.items[reading->last_row];
}

/* Runs the instructions of a function, of which the addresses are known. */
static int function_read(struct reading *reading, const struct cie *cie,
			 const struct cfi_program *program)
{
	struct cfi_state state = cie->initial;
	int taken = reading->taker->function(reading->taker->context, program->start, program->end);

	if (taken)
		return taken < 0 ? taken : 0;
	reading->result->functions++;
	if (cfi_program_run(program, &state, reading->result) || state.cfa_reason == CFI_BROKEN)
		reading->result->broken++;
	return 0;
}

/* Hands over the rules of one function. What is broken is counted. */
static int fde_read(struct reading *reading, const struct entry *entry)
{
	struct cursor cursor = cursor_of(entry->bytes);
	struct cfi_program program;
	const struct cie *cie;

	if (entry->cie_offset >= reading->section->bytes.length) {
		reading->result->broken++;
		return 0;
	}
	cie = cie_at(reading, entry->cie_offset);
	if (!cie)
		return -EBADMSG;
	if (reading->taker->entry)
		*reading->taker->entry = entry->offset;
	program = cie->program;
	program.start = cfi_pointer(&cursor, cie->pointer_encoding, reading->section);
	/* The length has the format of the pointer, without its base. */
	program.end = program.start +
		      cfi_pointer(&cursor, cie->pointer_encoding & 0x0f, reading->section);
	if (cie->has_augmentation)
		cursor_take(&cursor, cfi_uleb(&cursor));
	if (!cie->is_known || cursor.overrun || program.end < program.start) {
		reading->result->broken++;
		return 0;
	}
	if (program.start == program.end)
		return 0;
	program.instructions = (struct bytes){cursor.next, cursor_left(&cursor)};
	/* What a broken CIE left is true nowhere. */
	if (cie->initial.cfa_reason == CFI_BROKEN)
		program.instructions.length = 0;
	program.initial = &cie->initial;
	program.taker = reading->taker;
	return function_read(reading, cie, &program);
}

static int entries_read(struct reading *reading)
{
	struct cursor cursor = cursor_of(reading->section->bytes);
	int error = 0;

	while (cursor_left(&cursor) >= sizeof(u32) && !error) {
		struct entry entry = entry_next(&cursor, reading->section);

		if (cursor.overrun)
			return -EBADMSG;
		/* crtend.o's end mark may stand before entries of other objects. */
		if (!entry.is_end && entry.bytes.length && !entry.is_cie)
			error = fde_read(reading, &entry);
	}
	return error;
}

static void release(struct reading *reading)
{
	idmap_release(&reading->cie_of);
	vec_release(&reading->cies);
}

int cfi_read(const struct cfi_section *section, const struct cfi_taker *taker,
	     struct cfi_result *result)
{
	struct reading reading = {.section = section, .taker = taker, .result = result};
	int error = section->bytes.length > CFI_BYTES_MAX ? -EFBIG : entries_read(&reading);

	release(&reading);
	return error;
}

int cfi_read_entry(const struct cfi_section *section, u64 offset, const struct cfi_taker *taker,
		   struct cfi_result *result)
{
	struct reading reading = {.section = section, .taker = taker, .result = result};
	struct cursor cursor = cursor_of(section->bytes);
	struct entry entry;
	int error;

	if (!cursor_take(&cursor, offset))
		return -EBADMSG;
	entry = entry_next(&cursor, section);
	if (cursor.overrun || entry.is_end || entry.is_cie || !entry.bytes.length)
		return -EBADMSG;
	error = fde_read(&reading, &entry);
	release(&reading);
	return error;
}
