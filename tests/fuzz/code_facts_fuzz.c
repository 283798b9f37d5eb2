/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes what is concluded from the code of a binary: any bytes may call themselves an ELF file.
 */
#include "lbr/code_facts.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { FUNCTIONS_MAX = 64 };

/* The fuzz target: 0, whatever the bytes are. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void ask(struct code_facts *facts, u32 row)
{
	const struct code_function function = *code_facts_read_function(facts, row);
	u64 end = function.end;
	u64 call = code_facts_only_call(facts, row);
	struct instruction instruction;

	if (function.start >= end || code_facts_function(facts, function.start) != row ||
	    code_facts_function(facts, end - 1) != row)
		abort();
	if (call && (!code_facts_instruction(facts, call, &instruction) ||
		     instruction.kind != INSTRUCTION_CALL))
		abort();
	code_facts_call_before(facts, end);
	code_facts_frame(facts, end - 1);
	code_facts_frame(facts, function.start);
	code_facts_is_pointed_at(facts, row);
}

static void ask_all(struct code_facts *facts)
{
	for (u32 row = 0; row < facts->functions.count && row < FUNCTIONS_MAX; row++)
		ask(facts, row);
	for (size_t i = 0; i < facts->image.symbols.count; i++) {
		const struct code_symbol *symbol = &facts->image.symbols.items[i];

		if (symbol->is_exported && !code_facts_exported(facts, symbol->name, 0))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct code_image image = {0};
	struct code_facts *facts;
	u8 *copy;

	if (!length)
		return 0;
	copy = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return 0;
	memcpy(copy, bytes, length);
	if (code_image_take((struct bytes){copy, length}, &image)) {
		munmap(copy, length);
		return 0;
	}
	facts = code_facts_new(&image, false, NULL);
	ask_all(facts);
	code_facts_free(facts);
	return 0;
}
