/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rule that holds at a place in a file, out of its table; and of late ones each CPU's own.
 */
#ifndef RULES_BPF_H
#define RULES_BPF_H

#include "bpfprof/code_bytes.h"
#include "bpfprof/unwind_find.h"
#include "mapping.bpf.h"

enum { SEGMENT_CHUNK_BITS = 8 }; /* of a chunk's number: its place in the segment */
_Static_assert(1 << SEGMENT_CHUNK_BITS == UNWIND_SEGMENT_CHUNKS, "chunks of a segment");

/* An unwind_read_chunk. */
static __always_inline const u32 *read_chunk(void *unused, u32 chunk)
{
	u32 segment = chunk >> SEGMENT_CHUNK_BITS, number = chunk & (UNWIND_SEGMENT_CHUNKS - 1);
	void *chunks = bpf_map_lookup_elem(&unwind_segments, &segment);

	(void)unused;
	return chunks ? bpf_map_lookup_elem(chunks, &number) : NULL;
}

/* Where this CPU remembers the rule for a place in a table. */
static __always_inline struct known_rule *known_rule(u32 table, u64 offset)
{
	return known_rule_at(known_rule_row(table, offset));
}

/* Remembers the rule that the table of mapping `row` has for `offset`. Global, see move_window(),
 * and so that its variables are on the stack of BPF only meanwhile. */
__noinline int learn_rule(u32 row, u64 offset)
{
	struct scratch *scratch = scratch_here();
	const struct known_mapping *mapping;
	const struct unwind_rule *rule;
	struct known_rule *known;

	if (!scratch)
		return 1;
	mapping = &known_process(scratch)->mappings[row & (MAPPINGS_KNOWN - 1)];
	known = known_rule(mapping->table.number, offset);
	if (!known)
		return 1;
	rule = unwind_find(&mapping->table.place, offset, read_chunk, NULL);
	known->offset = offset;
	known->table = mapping->table.number;
	known->rule.cfa_kind = CFA_NONE;
	if (rule)
		known->rule = *rule;
	return 0;
}

/* The rule that holds at an address in the mapping `row`, whose file has a table. */
static __always_inline const struct unwind_rule *rule_at(struct scratch *scratch, u32 row,
							 u64 address)
{
	struct known_process *process = known_process(scratch);
	const struct known_mapping *mapping = &process->mappings[row];
	u64 offset = address - process->starts[row] + mapping->file_offset;
	u32 rule_row = known_rule_row(mapping->table.number, offset);
	struct known_rule *known = known_rule_at(rule_row);

	if (!known)
		return NULL;
	process->rules[scratch->record.header.user_frames & (RULES_AHEAD - 1)] = (u16)rule_row;
	if ((known->offset != offset || known->table != mapping->table.number) &&
	    learn_rule(row, offset))
		return NULL;
	return known->rule.cfa_kind != CFA_NONE ? &known->rule : NULL;
}

/* Whether a function with a rule begins at `address`. Global, see move_window(). */
__noinline int calls_with_rule(u64 address)
{
	struct scratch *scratch = scratch_here();
	u64 code = 0;
	u32 row;

	if (!scratch || bpf_probe_read_user(&code, sizeof(code), (const void *)address) ||
	    code_is_jump_stub(code))
		return false;
	row = find_mapping(scratch, address);
	if (row >= MAPPINGS_KNOWN ||
	    known_process(scratch)->mappings[row].table.state != FILE_READY)
		return false;
	return rule_at(scratch, row, address) != NULL;
}

#endif
