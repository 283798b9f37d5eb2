/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pieces are sorted side by side, then merged two by two.
 */
#include "base/sort.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_ROWS = 1 << 12 }; /* of a piece: less is not worth a thread */

struct sorting {
	u32 *rows, *merged; /* merged: where the next merge puts them */
	size_t count, piece_count;
	size_t span; /* pieces that are one run by now */
	sort_compare *compare;
	void *context;
};

/* Where a piece begins; that behind the last one: the end. */
static size_t start_of(const struct sorting *sorting, size_t piece)
{
	return piece < sorting->piece_count ? sorting->count * piece / sorting->piece_count
					    : sorting->count;
}

static void sort_piece(void *context, size_t piece)
{
	struct sorting *sorting = context;
	size_t from = start_of(sorting, piece), to = start_of(sorting, piece + 1);

	qsort_r(sorting->rows + from, to - from, sizeof(*sorting->rows), sorting->compare,
		sorting->context);
}

static void merge_pair(void *context, size_t pair)
{
	struct sorting *sorting = context;
	size_t piece = pair * 2 * sorting->span;
	size_t left = start_of(sorting, piece), middle = start_of(sorting, piece + sorting->span);
	size_t right = middle, to = start_of(sorting, piece + 2 * sorting->span);

	for (size_t at = left; at < to; at++) {
		bool takes_left = right == to ||
				  (left < middle &&
				   sorting->compare(&sorting->rows[left], &sorting->rows[right],
						    sorting->context) <= 0);

		sorting->merged[at] = sorting->rows[takes_left ? left++ : right++];
	}
}

void sort_rows(u32 *rows, size_t count, sort_compare *compare, void *context)
{
	size_t most = parallel_width();
	struct sorting sorting = {
		.rows = rows,
		.count = count,
		.piece_count = count / LEAST_ROWS < most ? count / LEAST_ROWS + 1 : most,
		.span = 1,
		.compare = compare,
		.context = context,
	};
	u32 *spare = must_resize_array(NULL, count, sizeof(*spare));

	sorting.merged = spare;
	parallel_run(sorting.piece_count, sort_piece, &sorting);
	for (; sorting.span < sorting.piece_count; sorting.span *= 2) {
		u32 *merged = sorting.merged;

		parallel_run((sorting.piece_count + 2 * sorting.span - 1) / (2 * sorting.span),
			     merge_pair, &sorting);
		sorting.merged = sorting.rows;
		sorting.rows = merged;
	}
	if (sorting.rows != rows && count)
		memcpy(rows, sorting.rows, count * sizeof(*rows));
	free(spare);
}
