/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of the table are pairs of where a function starts and where its entry in .eh_frame is; where
 * it ends is in the entry.
 *
 * The file is memory that is filled piece by piece. So before an entry is taken apart, its bytes
 * and those of the CIE that it refers to are asked for.
 */
#include "unwind/function_index.h"

#include "base/idmap.h"
#include "base/memory.h"
#include "binary/binary.h"
#include "unwind/cfi_number.h"
#include "unwind/cfi_sections.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

enum {
	HEADER_VERSION = 1, /* of .eh_frame_hdr; source: LSB 5.0 core, 10.6.2 */
	TABLE_SORTED_DATA4 = 0x3b,
	HEADER_BYTES = 32, /* more than it has in front of the table */
	ROW_BYTES = 8,
	ENTRY_HEAD_BYTES = 16,	   /* a length, and the CIE's place */
	ENTRY_MAX_BYTES = 1 << 16, /* of one that are copied: its bounds stand at its front */
	/* Empty functions, and several that start at one place, are passed over; a bound for
	 * made-up files. */
	ROWS_TRIED_MAX = 64,
};

struct function_index {
	struct file_pieces *pieces;
	struct cfi_sections sections;
	u64 address;	  /* of .eh_frame_hdr, which rows are relative to */
	u64 table, count; /* its rows: offset in the file, how many */
	struct function_places found;
	struct idmap rows; /* function's address: row of `found`, plus 1 */
};

/* --- the table --- */

struct row {
	u64 start, entry; /* addresses */
};

static struct row row_at(const struct function_index *index, u64 number)
{
	u64 offset = index->table + number * ROW_BYTES;
	struct cursor cursor = cursor_of(file_pieces_at(index->pieces, offset, ROW_BYTES));
	u64 start = index->address + (u64)(s64)(s32)cursor_u32(&cursor);

	return (struct row){start, index->address + (u64)(s64)(s32)cursor_u32(&cursor)};
}

/* How many rows start at an address or before it. */
static u64 rows_up_to(const struct function_index *index, u64 address)
{
	u64 low = 0, high = index->count;

	while (low < high) {
		u64 middle = low + (high - low) / 2;

		if (row_at(index, middle).start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int read_table(struct function_index *index, const GElf_Phdr *segment)
{
	struct cfi_section header = {
		.bytes = file_pieces_at(index->pieces, segment->p_offset, HEADER_BYTES),
		.address = segment->p_vaddr,
		.data_address = segment->p_vaddr,
	};
	struct cursor cursor = cursor_of(header.bytes);
	u8 version = cursor_u8(&cursor), pointer = cursor_u8(&cursor), number = cursor_u8(&cursor);
	u8 table = cursor_u8(&cursor);

	cfi_pointer(&cursor, pointer, &header);
	index->count = cfi_pointer(&cursor, number, &header);
	index->address = segment->p_vaddr;
	index->table = segment->p_offset + (u64)(cursor.next - header.bytes.start);
	if (version != HEADER_VERSION || table != TABLE_SORTED_DATA4 || cursor.overrun ||
	    !index->count || index->count > segment->p_filesz / ROW_BYTES)
		return -ENOTSUP;
	return 0;
}

static int find_table(struct function_index *index)
{
	GElf_Phdr segment;
	size_t count = 0;

	/* There is nothing yet of what would have to be walked through. */
	if (index->sections.is_walked || !index->sections.eh_frame.bytes.length ||
	    elf_getphdrnum(index->sections.elf, &count))
		return -ENOTSUP;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(index->sections.elf, (int)i, &segment) &&
		    segment.p_type == PT_GNU_EH_FRAME)
			return read_table(index, &segment);
	return -ENOTSUP;
}

/* --- entries --- */

/* Has the bytes of an entry of .eh_frame copied. Returns where its CIE is said to be. */
static u64 fetch_entry(const struct function_index *index, u64 offset)
{
	const struct cfi_section *frames = &index->sections.eh_frame;
	u64 in_file = (u64)(frames->bytes.start - file_pieces_all(index->pieces).start) + offset;
	struct cursor cursor = cursor_of(file_pieces_at(index->pieces, in_file, ENTRY_HEAD_BYTES));
	u64 length = cursor_u32(&cursor), place = offset + sizeof(u32);

	if (length == 0xffffffff) {
		length = cursor_u64(&cursor);
		place += sizeof(u64);
	}
	if (length > ENTRY_MAX_BYTES)
		length = ENTRY_MAX_BYTES;
	file_pieces_at(index->pieces, in_file, length + ENTRY_HEAD_BYTES);
	return place - cursor_u32(&cursor);
}

static int take_bound(void *context, u64 start, u64 end)
{
	*(struct function_bound *)context = (struct function_bound){start, end};
	return 1; /* its rules are not wanted */
}

static void ignore_rule(void *context, u64 start, const struct unwind_rule *rule)
{
	(void)context, (void)start, (void)rule;
}

/* The function of a row; empty if there is none. */
static struct function_bound bound_of(const struct function_index *index, const struct row *row)
{
	const struct cfi_section *frames = &index->sections.eh_frame;
	struct function_bound bound = {0};
	const struct cfi_taker taker = {take_bound, ignore_rule, &bound, NULL};
	struct cfi_result result = {0};
	u64 offset = row->entry - frames->address, cie;

	if (offset >= frames->bytes.length)
		return bound;
	cie = fetch_entry(index, offset);
	if (cie < frames->bytes.length)
		fetch_entry(index, cie);
	(void)cfi_read_entry(frames, offset, &taker, &result);
	return bound.start == row->start ? bound : (struct function_bound){0};
}

/* The last function that starts at an address or before it, the longest of those that start there.
 */
static struct function_bound bound_before(const struct function_index *index, u64 address)
{
	struct function_bound best = {0};
	u64 rows = rows_up_to(index, address), tried = 0;

	for (; rows && tried < ROWS_TRIED_MAX; rows--, tried++) {
		struct row row = row_at(index, rows - 1);
		struct function_bound bound = {0};

		if (best.end && row.start != best.start)
			break;
		bound = bound_of(index, &row);
		if (bound.end > best.end)
			best = bound;
	}
	return best;
}

/* --- places --- */

static const struct cfi_segment *text_at(const struct function_index *index, u64 offset)
{
	for (size_t i = 0; i < index->sections.text_count; i++) {
		const struct cfi_segment *text = &index->sections.text[i];

		if (offset - text->offset < text->bytes)
			return text;
	}
	return NULL;
}

/* The row of `found` for a function. */
static const struct function_place *place_of(struct function_index *index,
					     const struct cfi_segment *text,
					     const struct function_bound *bound)
{
	u32 *row = idmap_place(&index->rows, bound->start);
	u64 skipped = bound->start - text->address, bytes = bound->end - bound->start;

	if (bytes > text->bytes - skipped)
		bytes = text->bytes - skipped;
	if (!*row) {
		*vec_add(&index->found.items) = (struct function_place){
			text->offset + skipped, text->offset + skipped + bytes, bound->start};
		*row = (u32)index->found.items.count;
	}
	return &index->found.items.items[*row - 1];
}

const struct function_place *function_index_find(struct function_index *index, u64 offset)
{
	const struct cfi_segment *text = text_at(index, offset);
	struct function_bound bound;
	u64 address;

	if (!text)
		return NULL;
	address = text->address + (offset - text->offset);
	bound = bound_before(index, address);
	if (address < bound.start || address >= bound.end || bound.start < text->address)
		return NULL;
	return place_of(index, text, &bound);
}

size_t function_index_number(const struct function_index *index, const struct function_place *place)
{
	return (size_t)(place - index->found.items.items);
}

/* --- opening --- */

static int open_file(int fd, struct function_index *index)
{
	int own = dup(fd), error;

	if (own < 0)
		return -errno;
	error = file_pieces_new(own, &index->pieces);
	if (error) {
		close(own);
		return error;
	}
	error = elf_pieces_headers(index->pieces);
	error = error ? error : cfi_sections_open(file_pieces_all(index->pieces), &index->sections);
	return error ? error : find_table(index);
}

int function_index_open(int fd, struct function_index **ret_index)
{
	struct function_index *index = must_alloc(sizeof(*index));
	int error = open_file(fd, index);

	if (error)
		function_index_free(index);
	else
		*ret_index = index;
	return error;
}

void function_index_free(struct function_index *index)
{
	if (!index)
		return;
	cfi_sections_close(&index->sections);
	file_pieces_free(index->pieces);
	vec_release(&index->found.items);
	idmap_release(&index->rows);
	free(index);
}
