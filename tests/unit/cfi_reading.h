/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A made image with call frame information, and the table that is read from it.
 */
#ifndef TESTS_CFI_READING_H
#define TESTS_CFI_READING_H

#include "unit/cfi_maker.h"
#include "unwind/unwind.h"

enum { RULES_MAX = 1 << 16, START = MADE_TEXT_START };

struct reading {
	struct made_cfi *made; /* to be filled */
	struct rule_set rules;
	struct unwind_table *table;
};

/* An empty image, not read yet. Free with reading_release(). */
static inline struct reading reading_new(void)
{
	struct reading reading = {.made = must_alloc(sizeof(*reading.made))};

	rule_set_init(&reading.rules);
	return reading;
}

/* Frees. */
static inline void reading_release(struct reading *reading)
{
	unwind_table_free(reading->table);
	rule_set_release(&reading->rules);
	free(reading->made);
}

/* Reads what has been made; as unwind_table_read(). */
static inline int reading_read(struct reading *reading)
{
	return unwind_table_read(made_image(reading->made), &reading->rules, RULES_MAX,
				 &reading->table);
}

/* The rule that holds at an address. */
static inline struct unwind_rule rule_at(const struct reading *reading, u64 address)
{
	return reading->rules.rules.items[unwind_table_find(reading->table, address)];
}

#endif
