/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a sample says of the memory that it accessed (PERF_SAMPLE_DATA_SRC), as perf words it.
 */
#ifndef EXPORT_MEMORY_WORDS_H
#define EXPORT_MEMORY_WORDS_H

#include "base/text.h"
#include "bpfprof/types.h"

/* Each appends what a word of union perf_mem_data_src says of one thing; "N/A": nothing. */

/* What kind of access it was: "LOAD". */
void memory_append_operation(struct text *text, u64 source);
/* Where the data was found: "L1 hit". */
void memory_append_level(struct text *text, u64 source);
/* Whether another cache had it: "HitM". */
void memory_append_snoop(struct text *text, u64 source);
/* How its address was translated: "L1 or L2 hit". */
void memory_append_tlb(struct text *text, u64 source);
/* Whether the instruction was a locked one. */
void memory_append_lock(struct text *text, u64 source);
/* What it had to wait for, each word with a space in front. */
void memory_append_blocked(struct text *text, u64 source);

/* The size of a page: "4K"; "N/A", if it is not known. */
void memory_append_page(struct text *text, u64 bytes);

/* All of the first six in one line, as perf script does it. */
void memory_append_all(struct text *text, u64 source);

#endif
