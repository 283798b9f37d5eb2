/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the code of the test itself says, of functions by name: those that it has in assembly.
 */
#ifndef UNIT_LBR_OWN_FACTS_H
#define UNIT_LBR_OWN_FACTS_H

#include "lbr/code_facts.h"
#include "unit/code_image_at.h"

#include <string.h>

/* Set up and torn down around a group of tests, whose state it is. */
static inline int own_facts_set_up(void **state)
{
	struct code_image image = code_image_at("/proc/self/exe");

	*state = code_facts_new(&image, false, NULL);
	return 0;
}

static inline int own_facts_tear_down(void **state)
{
	code_facts_free(*state);
	return 0;
}

/* The row of a function, which has to be there. */
static inline u32 own_function(const struct code_facts *facts, const char *name)
{
	size_t at = 0;

	while (at < facts->image.symbols.count &&
	       strcmp(facts->image.symbols.items[at].name, name) != 0)
		at++;
	assert_int_not_equal(at, facts->image.symbols.count);
	return code_facts_function(facts, facts->image.symbols.items[at].address);
}

#endif
