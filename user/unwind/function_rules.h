/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwind rules of an x86-64 image by address, where few are asked for: what is read at first is
 * where functions are, the rules of a function when somebody asks.
 */
#ifndef UNWIND_FUNCTION_RULES_H
#define UNWIND_FUNCTION_RULES_H

#include "bpfprof/unwind_table.h"
#include "unwind/function_bounds.h"

struct function_rules;

/*
 * Reads where the functions of .eh_frame are, and those of .debug_frame that are not there; and
 * that nobody called what a program begins with, where nothing else is known of it.
 *
 * image  borrowed until the end
 * Returns what can be read of a malformed image, down to nothing. function_rules_free() it.
 */
struct function_rules *function_rules_new(struct bytes image);
/* Frees; NULL is fine. */
void function_rules_free(struct function_rules *rules);

/* The functions, ascending by where they start. Borrowed. */
const struct function_bound *function_rules_bounds(const struct function_rules *rules,
						   size_t *ret_count);

/* The function that an address is in, as call frame information has it; NULL if none. Borrowed. */
const struct function_bound *function_rules_bound(const struct function_rules *rules, u64 address);

/* The rule that holds at an address: what unwind_table_find() finds, except that the few bytes
 * between functions have none. Borrowed until the next one is asked for. */
const struct unwind_rule *function_rules_find(struct function_rules *rules, u64 address);
/* The same, and the addresses around for which it was written; none (0, 0) where there is none. */
const struct unwind_rule *function_rules_find_span(struct function_rules *rules, u64 address,
						   struct function_bound *ret_span);

#endif
