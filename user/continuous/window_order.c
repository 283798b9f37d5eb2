/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sums in the order in which they take least on disk.
 */
#include "continuous/window_order.h"

#include "continuous/window_state.h"

#include <string.h>

static int compare_times(const void *left, const void *right)
{
	const struct told_sum *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static u64 address_at(const struct told_sum *sum, u32 index)
{
	u64 address;

	memcpy(&address, sum->addresses + index * sizeof(address), sizeof(address));
	return address;
}

static u64 leaf_of(const struct told_sum *sum)
{
	struct sum_key key;

	memcpy(&key, sum->key, sizeof(key));
	return key.address;
}

/* Of those with the same callers, who has most in common with the one before comes next: zstd pays
 * for each place where they differ, whatever it says. */
static int compare_alike(const void *left, const void *right)
{
	const struct told_sum *a = left, *b = right;
	u64 leaf, other;

	if (a->samples != b->samples)
		return a->samples < b->samples ? -1 : 1;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	leaf = leaf_of(a);
	other = leaf_of(b);
	if (leaf != other)
		return leaf < other ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static u32 callers_of(const struct told_sum *sum)
{
	return sum->count ? sum->count - 1 : 0;
}

/* At first by how many frames there are, as records of one length repeat each other best; then by
 * the caller so many frames from the outermost. */
static int compare_callers(const struct told_sum *a, const struct told_sum *b, u32 depth)
{
	u64 address, other;

	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	if (depth >= callers_of(a))
		return 0;
	address = address_at(a, a->count - 1 - depth);
	other = address_at(b, b->count - 1 - depth);
	return address < other ? -1 : address > other;
}

static void swap_sums(struct told_sum *a, struct told_sum *b)
{
	struct told_sum kept = *a;

	*a = *b;
	*b = kept;
}

/* Mostly these are few. */
static void order_alike(struct told_sum *sums, size_t count)
{
	enum { FEW = 12 };

	if (count > FEW) {
		qsort(sums, count, sizeof(*sums), compare_alike);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		struct told_sum sum = sums[i];
		size_t at = i;

		for (; at > 0 && compare_alike(&sums[at - 1], &sum) > 0; at--)
			sums[at] = sums[at - 1];
		sums[at] = sum;
	}
}

/* By their callers, outermost first. Most stacks begin alike, so each caller is looked at once for
 * all that share those before it (quicksort of three parts). */
static void order_stacks(struct told_sum *sums, size_t count, u32 depth)
{
	while (count > 1) {
		struct told_sum pivot = sums[count / 2];
		size_t less = 0, more = count;

		for (size_t at = 0; at < more;) {
			int order = compare_callers(&sums[at], &pivot, depth);

			if (order < 0)
				swap_sums(&sums[less++], &sums[at++]);
			else if (order > 0)
				swap_sums(&sums[at], &sums[--more]);
			else
				at++;
		}
		order_stacks(sums, less, depth);
		order_stacks(sums + more, count - more, depth);
		sums += less;
		count = more - less;
		if (depth++ == callers_of(&pivot)) {
			order_alike(sums, count);
			return;
		}
	}
}

/* Stacks alike stand side by side. Perf puts events into order of time one by one, going from the
 * last one to the new one's place, past all of one time: so that this stays near, only so many
 * change places, and all of the first moment where they are more. */
void window_order_sums(struct told_sum *sums, size_t count)
{
	enum { TOGETHER = 8192 };
	size_t together = TOGETHER;

	if (count > TOGETHER)
		qsort(sums, count, sizeof(*sums), compare_times);
	while (together < count && sums[together].time_ns == sums[0].time_ns)
		together++;
	for (size_t from = 0; from < count; from += together, together = TOGETHER) {
		if (together > count - from)
			together = count - from;
		order_stacks(sums + from, together, 0);
	}
}
