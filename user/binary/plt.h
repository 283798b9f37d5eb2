/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names for the procedure linkage table. Private to binary/.
 */
#ifndef BINARY_PLT_H
#define BINARY_PLT_H

#include "binary/elf_file.h"
#include "binary/symbols.h"

/* Adds "name@plt" for each entry of .plt, and of .plt.sec if there is one, by file offset. What is
 * malformed adds nothing. Does not finish the table. */
void plt_add_symbols(struct symbols *symbols, const struct elf_file *image);

#endif
