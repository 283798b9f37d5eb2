/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ranges of frame description entries, without their rules.
 */
#include "unwind/function_bounds.h"

#include "unwind/cfi_sections.h"

static int take_bound(void *context, u64 start, u64 end)
{
	struct function_bounds *bounds = context;

	*vec_add(&bounds->items) = (struct function_bound){start, end};
	return 1; /* its rules are not wanted */
}

static void ignore_rule(void *context, u64 start, const struct unwind_rule *rule)
{
	(void)context, (void)start, (void)rule;
}

int function_bounds_read(struct bytes image, struct function_bounds *bounds)
{
	struct cfi_taker taker = {take_bound, ignore_rule, bounds};
	struct cfi_result result = {0};
	struct cfi_sections sections;
	int error = cfi_sections_open(image, &sections);

	if (!error && sections.eh_frame.bytes.length)
		error = cfi_read(&sections.eh_frame, &taker, &result);
	else if (!error && sections.debug_frame.bytes.length)
		error = cfi_read(&sections.debug_frame, &taker, &result);
	cfi_sections_close(&sections);
	return error;
}
