/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the reading of kallsyms, for names and for where the kernel's unwind rules are, and of
 * /proc/modules.
 */
#include "host/kernel_rules.h"
#include "host/kernel_symbols.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct symbols *symbols = symbols_new();
	struct bytes text = {bytes, length}, modules = text;
	struct kernel_module module;
	struct kernel_rules rules;
	u64 address;
	int found;

	if (!kernel_symbols_read(text, symbols)) {
		for (size_t i = 0; i < symbols_count(symbols); i++) {
			const struct symbol *symbol = symbols_at(symbols, i);

			/* The last address there is has no end behind it. */
			if (symbol->end > symbol->start && !symbols_find(symbols, symbol->start))
				abort();
		}
	}
	kernel_symbol_address(text, "_text", &address);
	rules = kernel_rules_find(text);
	if (rules.entries && (!rules.addresses || rules.text_start >= rules.text_end))
		abort();
	while ((found = kernel_module_next(&modules, &module))) {
		if (found == 1 && strlen(module.name) >= sizeof(module.name))
			abort();
	}
	symbols_free(symbols);
	return 0;
}
