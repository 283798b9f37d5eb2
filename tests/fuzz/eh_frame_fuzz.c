/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the reader of .eh_frame and .debug_frame.
 *
 * The first byte says of which kind and processor the section is, the rest is the section.
 */
#include "unwind/eh_frame.h"

#include <errno.h>
#include <stdlib.h>

enum { IS_DEBUG_FRAME = 1, IS_AARCH64 = 2, ADDRESS = 0x1000 };

struct seen {
	u64 start, end; /* of the function */
	u64 last;	/* where its last rule began */
	u64 rules;
	bool has_rule;
};

/* The fuzz target: 0, whatever the bytes are. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static int take_function(void *context, u64 start, u64 end)
{
	struct seen *seen = context;

	if (start >= end)
		abort();
	seen->start = start;
	seen->end = end;
	seen->has_rule = false;
	return start & 64 ? 1 : 0;
}

static void take_rule(void *context, u64 start, const struct unwind_rule *rule)
{
	struct seen *seen = context;

	/* The first where the function begins, then ascending. */
	if (start >= seen->end || seen->start & 64 ||
	    (seen->has_rule ? start <= seen->last : start != seen->start))
		abort();
	if (rule->cfa_kind == CFA_NONE || rule->cfa_kind > CFA_PLT ||
	    rule->pc_kind > SAVED_IN_REGISTER || rule->fp_kind > SAVED_UNDEFINED)
		abort();
	seen->has_rule = true;
	seen->last = start;
	seen->rules++;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct seen seen = {0};
	struct cfi_taker taker = {take_function, take_rule, &seen};
	struct cfi_result result = {0};
	struct cfi_section section = {.address = ADDRESS};
	u64 unsupported = 0;
	int error;

	if (!length)
		return 0;
	section.bytes = (struct bytes){bytes + 1, length - 1};
	section.is_debug_frame = bytes[0] & IS_DEBUG_FRAME;
	section.machine = bytes[0] & IS_AARCH64 ? CFI_AARCH64 : CFI_X86_64;
	error = cfi_read(&section, &taker, &result);
	if (error && error != -EBADMSG)
		abort();
	for (size_t i = 0; i < CFI_REASON_COUNT; i++)
		unsupported += result.unsupported[i];
	/* Every rule but the first of a function took an instruction. */
	if (seen.rules > length || unsupported > seen.rules || result.unsupported[CFI_SUPPORTED])
		abort();
	return 0;
}
