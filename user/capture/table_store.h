/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind tables in kernel memory: one for all files that are copies of one another.
 */
#ifndef CAPTURE_TABLE_STORE_H
#define CAPTURE_TABLE_STORE_H

#include "binary/binary.h"
#include "capture/bpf_object.h"
#include "unwind/unwind.h"

#include <stdbool.h>

struct table_store;

/* Number of a table, from 1; 0: none. */
typedef u32 table_id;

/* An empty store in these maps. */
struct table_store *table_store_new(const struct unwind_maps *maps);
/* Frees what is ours; the words go with the programs. NULL is fine. */
void table_store_free(struct table_store *store);

/* The table that was made from these bytes, with one more reference; 0 if there is none. */
table_id table_store_find(struct table_store *store, const struct elf_digest *digest);
/*
 * Puts a table into the kernel, with one reference.
 *
 * Returns 0, -ENOSPC (no room now), -EFBIG (there never will be any), or why the kernel gave no
 * memory; without a sentence.
 */
int table_store_add(struct table_store *store, const struct elf_digest *digest,
		    const struct table_words *words, table_id *ret_table);
/* The number of a table: no other one of the store has it, or ever had it. Not 0. */
u32 table_store_number(const struct table_store *store, table_id table);
/* Where the words of a table lie. */
struct unwind_place table_store_place(const struct table_store *store, table_id table);
/* An unwind_read_chunk, of the words of all tables; `store` is a table_store. They are mapped when
 * they are asked for, and stay so until table_store_stop_reading(). */
const u32 *table_store_read_chunk(void *store, u32 chunk);
/* What has been read may be unmapped. */
void table_store_stop_reading(struct table_store *store);
/* Gives a reference back. Returns how many words will be free once they have rested: 0 unless it
 * was the last. */
u32 table_store_drop(struct table_store *store, table_id table, u64 now_ns);
/* Makes words free that have rested. Returns whether there were any. */
bool table_store_wake(struct table_store *store, u64 now_ns);

struct table_store_counts {
	u64 tables, rows; /* that are there */
	u64 kernel_bytes; /* of the segments */
};

/* As of now. */
struct table_store_counts table_store_counts(const struct table_store *store);

#endif
