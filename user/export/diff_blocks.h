/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Blocks of code in a diff: where they are, what they took, and what the table leaves out. Private
 * to this folder.
 */
#ifndef EXPORT_DIFF_BLOCKS_H
#define EXPORT_DIFF_BLOCKS_H

#include "export/diff_cells.h"

struct json_writer;

/* Appends "[from -> to] change" of what a side has in a line; nothing if it has nothing there. */
void diff_append_block(const struct diff_view *view, struct text *cell, struct diff_place place);
/* The averages that the change is made of. */
void diff_append_block_formula(const struct diff_view *view, struct text *cell,
			       struct diff_place place);
/* How much the first few differences vary, and a bar for each of them. */
void diff_append_block_spread(const struct diff_view *view, struct text *cell,
			      struct diff_place place);
/* An array of the blocks that a side and the baseline have of an entry. */
void diff_write_blocks_json(struct json_writer *json, const struct diff_view *view, u32 entry,
			    u32 side);
/* Comment lines below the table. */
void diff_write_blocks_left_out(const struct diff_view *view, FILE *out);

#endif
