/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel code as rows in the order in which it came.
 */
#include "continuous/kernel_pieces.h"

enum { SYMBOL_GOES = 1 }; /* kernel_symbol.flags */

/* The row that begins there and has not gone, NULL: none. */
static struct kernel_piece *row_at(struct kernel_pieces *pieces, u64 start)
{
	for (size_t i = pieces->rows.count; i-- > 0;) {
		struct kernel_piece *row = &pieces->rows.items[i];

		if (row->start == start && !row->gone_ns)
			return row;
	}
	return NULL;
}

static bool is_same(const struct kernel_piece *a, const struct kernel_piece *b)
{
	return a->start == b->start && a->end == b->end && a->file == b->file &&
	       a->is_symbol == b->is_symbol;
}

/* Whether one of the first rows lies there, too: one that has gone in this window, or has and we
 * have not heard of it. The first of all is the kernel itself. */
static bool is_anothers(const struct kernel_pieces *pieces, size_t count,
			const struct kernel_piece *piece)
{
	for (size_t i = 1; i < count; i++) {
		const struct kernel_piece *row = &pieces->rows.items[i];

		if (row->start < piece->end && piece->start < row->end)
			return true;
	}
	return false;
}

/* Rows that share a place are told side by side: a sum has one time, that of its last sample. No
 * kernel has code there: x86-64 leaves it to hypervisors, arm64 begins above it
 * (Documentation/arch/x86/x86_64/mm.rst, Documentation/arch/arm64/memory.rst, Linux 6.18). The
 * first of these places is for addresses of which nobody knows whose they were. */
static u64 place_beside(size_t number)
{
	return 0xff00000000000000 + ((u64)number << 32);
}

/* Where a row behind so many others is told to start. */
static u64 told_place(const struct kernel_pieces *pieces, size_t row,
		      const struct kernel_piece *piece)
{
	return is_anothers(pieces, row, piece) ? place_beside(row) : piece->start;
}

/* What took a place took it from what was there. */
static void add(struct kernel_pieces *pieces, struct kernel_piece piece)
{
	struct kernel_piece *old = row_at(pieces, piece.start);

	if (old && is_same(old, &piece))
		return;
	if (old)
		old->gone_ns = piece.time_ns ? piece.time_ns : 1;
	piece.told = told_place(pieces, pieces->rows.count, &piece);
	*vec_add(&pieces->rows) = piece;
	idmap_release(&pieces->looked_up);
}

/* A place that another one has taken since is its own. */
static void go(struct kernel_pieces *pieces, u64 start, u64 time_ns)
{
	for (size_t i = 0; i < pieces->rows.count; i++) {
		struct kernel_piece *row = &pieces->rows.items[i];

		if (row->start == start && row->time_ns <= time_ns &&
		    (!row->gone_ns || row->gone_ns > time_ns))
			row->gone_ns = time_ns ? time_ns : 1;
	}
}

void kernel_pieces_map(struct kernel_pieces *pieces, struct seen_files *files,
		       const struct mapping *mapping)
{
	add(pieces, (struct kernel_piece){
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

	if (symbol->flags & SYMBOL_GOES) {
		go(pieces, symbol->start, symbol->time_ns);
		return;
	}
	add(pieces, (struct kernel_piece){
			    .time_ns = symbol->time_ns,
			    .start = symbol->start,
			    .end = symbol->start + symbol->bytes,
			    .file = seen_files_add(files, &name),
			    .type = symbol->type,
			    .is_symbol = true,
		    });
}

static bool holds(const struct kernel_piece *row, u64 address)
{
	return address >= row->start && address < row->end;
}

static bool is_there(const struct kernel_piece *row, u64 time_ns)
{
	return row->time_ns <= time_ns && (!row->gone_ns || time_ns <= row->gone_ns);
}

/* The row that holds it at that time; else one that holds it at another one; NULL: none.
 * ret_is_last  no later row holds it */
static struct kernel_piece *find(struct kernel_pieces *pieces, u64 address, u64 time_ns,
				 bool *ret_is_last)
{
	struct kernel_piece *last = NULL;

	for (size_t i = pieces->rows.count; i-- > 0;) {
		struct kernel_piece *row = &pieces->rows.items[i];

		if (!holds(row, address))
			continue;
		last = last ? last : row;
		*ret_is_last = last == row;
		if (is_there(row, time_ns))
			return row;
	}
	return last;
}

u64 kernel_pieces_need(struct kernel_pieces *pieces, u64 address, u64 time_ns)
{
	u32 known = idmap_get(&pieces->looked_up, address);
	struct kernel_piece *row = known ? &pieces->rows.items[known - 1] : NULL;
	bool is_last = true;

	if (!known || !is_there(row, time_ns))
		row = find(pieces, address, time_ns, &is_last);
	if (!row)
		return address;
	if (!is_there(row, time_ns))
		return place_beside(0) + (u32)address;
	if (is_last && !known)
		*idmap_place(&pieces->looked_up, address) = (u32)(row - pieces->rows.items) + 1;
	row->is_needed = true;
	return address - row->start + row->told;
}

void kernel_pieces_turn(struct kernel_pieces *pieces)
{
	size_t kept = 0;

	for (size_t i = 0; i < pieces->rows.count; i++) {
		struct kernel_piece row = pieces->rows.items[i];

		if (row.gone_ns)
			continue;
		row.is_needed = false;
		row.told = told_place(pieces, kept, &row);
		pieces->rows.items[kept++] = row;
	}
	pieces->rows.count = kept;
	idmap_release(&pieces->looked_up);
}

void kernel_pieces_release(struct kernel_pieces *pieces)
{
	vec_release(&pieces->rows);
	idmap_release(&pieces->looked_up);
}
