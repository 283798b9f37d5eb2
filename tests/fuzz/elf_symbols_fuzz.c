/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the reading of ELF files: symbols, build id, packed debug data.
 */
#include "binary/binary.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct symbols *symbols = symbols_new(), *kernel = symbols_new(), *linkage = symbols_new();
	struct bytes image = {bytes, length}, unpacked;
	struct build_id id;
	u64 reference;

	symbols_add_elf(linkage, image, image);
	symbols_add_elf_borrowed(symbols, image, image);
	symbols_add_linkage(linkage, image);
	symbols_add_kernel_image(kernel, image, "_text", &reference);
	build_id_of_image(image, &id);
	for (size_t i = 0; i < symbols_count(symbols); i++) {
		const struct symbol *symbol = symbols_at(symbols, i);

		/* What is in the table is found, under its own or a nested symbol's name. */
		if (symbol->end > symbol->start && !symbols_find(symbols, symbol->start))
			abort();
		free(demangle(symbol->name));
	}
	if (!debug_data_unpack(image, &unpacked))
		free((void *)(uintptr_t)unpacked.start);
	symbols_free(symbols);
	symbols_free(kernel);
	symbols_free(linkage);
	return 0;
}
