/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel code as rows in the order in which it came.
 */
#include "continuous/kernel_pieces.h"

enum { SYMBOL_GOES = 1 }; /* kernel_symbol.flags */

/* The row that begins there and has not gone, NULL: none. */
static struct kernel_piece *row_at(struct kernel_pieces *pieces, u64 start, bool is_symbol)
{
	for (size_t i = pieces->rows.count; i-- > 0;) {
		struct kernel_piece *row = &pieces->rows.items[i];

		if (row->start == start && row->is_symbol == is_symbol && !row->gone_ns)
			return row;
	}
	return NULL;
}

/* What took a place took it from what was there: that modules go the kernel does not tell. */
static void add(struct kernel_pieces *pieces, const struct kernel_piece *piece)
{
	struct kernel_piece *old = row_at(pieces, piece->start, piece->is_symbol);

	if (old && old->file == piece->file && old->end == piece->end)
		return;
	if (old)
		old->gone_ns = piece->time_ns ? piece->time_ns : 1;
	*vec_add(&pieces->rows) = *piece;
}

void kernel_pieces_map(struct kernel_pieces *pieces, struct seen_files *files,
		       const struct mapping *mapping)
{
	add(pieces, &(struct kernel_piece){
			    .time_ns = mapping->time_ns,
			    .start = mapping->start,
			    .end = mapping->start + mapping->bytes,
			    .file_offset = mapping->file_offset,
			    .file = seen_files_add(files, mapping),
		    });
}

void kernel_pieces_symbol(struct kernel_pieces *pieces, struct seen_files *files,
			  const struct kernel_symbol *symbol)
{
	struct mapping name = {.space = SPACE_KERNEL, .path = symbol->name};
	struct kernel_piece *old = row_at(pieces, symbol->start, true);

	if (symbol->flags & SYMBOL_GOES) {
		if (old)
			old->gone_ns = symbol->time_ns ? symbol->time_ns : 1;
		return;
	}
	add(pieces, &(struct kernel_piece){
			    .time_ns = symbol->time_ns,
			    .start = symbol->start,
			    .end = symbol->start + symbol->bytes,
			    .file = seen_files_add(files, &name),
			    .type = symbol->type,
			    .is_symbol = true,
		    });
}

const struct kernel_piece *kernel_pieces_need(struct kernel_pieces *pieces, u64 address,
					      u64 time_ns)
{
	u32 *place = idmap_place(&pieces->looked_up, address);

	if (*place)
		return NULL;
	*place = 1;
	for (size_t i = pieces->rows.count; i-- > 0;) {
		struct kernel_piece *row = &pieces->rows.items[i];

		if (address < row->start || address >= row->end || row->time_ns > time_ns ||
		    (row->gone_ns && row->gone_ns < time_ns))
			continue;
		row->is_needed = true;
		return row;
	}
	return NULL;
}

void kernel_pieces_turn(struct kernel_pieces *pieces)
{
	size_t kept = 0;

	for (size_t i = 0; i < pieces->rows.count; i++) {
		pieces->rows.items[i].is_needed = false;
		if (!pieces->rows.items[i].gone_ns)
			pieces->rows.items[kept++] = pieces->rows.items[i];
	}
	pieces->rows.count = kept;
	idmap_release(&pieces->looked_up);
}

void kernel_pieces_release(struct kernel_pieces *pieces)
{
	vec_release(&pieces->rows);
	idmap_release(&pieces->looked_up);
}
