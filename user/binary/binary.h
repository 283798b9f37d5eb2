/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One ELF file: its identity, its symbols, its source lines, its separate debug file. This is the
 * folder's face; the parts have a header each. Only this folder and unwind/ know libelf and libdw.
 */
#ifndef BINARY_BINARY_H
#define BINARY_BINARY_H

#include "binary/build_id.h"
#include "binary/code_image.h"
#include "binary/code_step.h"
#include "binary/debug_file.h"
#include "binary/debug_server.h"
#include "binary/demangle.h"
#include "binary/elf_image.h"
#include "binary/file_pieces.h"
#include "binary/load_map.h"
#include "binary/open_below.h"
#include "binary/source_lines.h"
#include "binary/symbols.h"

#endif
