/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the reading of /tmp/perf-PID.map.
 */
#include "symbolize/finder.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct symbols *symbols = symbols_new();

	if (!perf_map_read((struct bytes){bytes, length}, symbols)) {
		for (size_t i = 0; i < symbols_count(symbols); i++) {
			const struct symbol *symbol = symbols_at(symbols, i);

			if (symbol->end > symbol->start && !symbols_find(symbols, symbol->start))
				abort();
		}
	}
	symbols_free(symbols);
	return 0;
}
