/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The word that a person may have meant.
 *
 * Distance is counted in edits: a letter more, less, another, or two swapped (restricted
 * Damerau-Levenshtein). A third of the word may be wrong; a word and a name that one begins the
 * other are near (--frequency and --freq).
 */
#include "cli/options.h"

#include <string.h>

enum { LONGEST_WORD = 64, FAR_AWAY = 1000 };

static int smallest(int a, int b, int c)
{
	int least = a < b ? a : b;

	return least < c ? least : c;
}

static int edit_distance(const char *from, const char *to)
{
	int rows[3][LONGEST_WORD + 1]; /* two rows back, one back, this one */
	int *older = rows[0], *old = rows[1], *row = rows[2];
	int from_length = (int)strlen(from), to_length = (int)strlen(to);

	if (from_length > LONGEST_WORD || to_length > LONGEST_WORD)
		return FAR_AWAY;
	for (int j = 0; j <= to_length; j++)
		older[j] = old[j] = j;
	for (int i = 1; i <= from_length; i++) {
		int *spare = older;

		row[0] = i;
		for (int j = 1; j <= to_length; j++) {
			bool is_same = from[i - 1] == to[j - 1];

			row[j] = smallest(old[j] + 1, row[j - 1] + 1, old[j - 1] + !is_same);
			if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
				row[j] = smallest(row[j], older[j - 2] + 1, FAR_AWAY);
		}
		older = old;
		old = row;
		row = spare;
	}
	return old[to_length];
}

static bool is_beginning(const char *beginning, const char *whole)
{
	size_t length = strlen(beginning);

	return length > 2 && !strncmp(beginning, whole, length);
}

const char *nearest_name(const char *word, const char *const *names)
{
	size_t length = strlen(word);
	int allowed = (int)(length + 2) / 3;
	const char *nearest = NULL;
	int least = allowed + 1;

	for (; *names; names++) {
		int distance = edit_distance(word, *names);

		if (is_beginning(word, *names) || is_beginning(*names, word))
			distance = 1;
		if (distance < least) {
			least = distance;
			nearest = *names;
		}
	}
	return nearest;
}
