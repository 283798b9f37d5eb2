/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The footer of a diff.
 */
#include "export/diff_chance.h"

#include "base/memory.h"
#include "base/number.h"

/* How many runs a side has, of those that have the event. */
static u32 count_runs(const struct comparison *comparison, u32 side)
{
	u32 count = 0;

	for (u32 run = 0; run < comparison->settings.run_count; run++)
		count += comparison->settings.runs[run].side == side &&
			 comparison->settings.runs[run].source != NO_SOURCE;
	return count;
}

static void write_test(const struct changes *changes, u32 side, FILE *out)
{
	u32 before = count_runs(changes->comparison, 0);
	u32 after = count_runs(changes->comparison, side);

	if (before + after > 2)
		fprintf(out, "# t test with the spread of %u and %u recordings", before, after);
	else
		fprintf(out,
			"# t test of one recording a side, bursts and what runs of one program "
			"differ by allowed for");
	fprintf(out, ";\n# Benjamini-Hochberg: at most %g%% of the marks are by chance\n",
		changes->alpha * 100);
}

static void write_side(const struct changes *changes, u32 side, FILE *out)
{
	const struct changes_side *told = &changes->sides[side];
	char before[NUMBER_TEXT_BYTES], after[NUMBER_TEXT_BYTES];

	if (!told->before_samples || !told->after_samples)
		return;
	fputs("#\n# ", out);
	if (changes->side_count > 2)
		fprintf(out, "%u: ", side);
	fprintf(out, "%zu of %zu lines changed beyond chance (*), in %s and %s samples",
		told->beyond, told->tested, number_format_count(told->before_samples, before),
		number_format_count(told->after_samples, after));
	if (told->too_few)
		fprintf(out, "; %zu more have too few (?)", told->too_few);
	fputc('\n', out);
	write_test(changes, side, out);
	fprintf(out,
		"# What would have been found: %.2f points more or less of 1%%, %.2f of 10%%\n#\n",
		told->smallest_of_1 * 100, told->smallest_of_10 * 100);
}

void diff_write_chance(const struct changes *changes, FILE *out)
{
	for (u32 side = 1; side < changes->side_count; side++)
		write_side(changes, side, out);
}
