/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Data sources as text.
 *
 * Source of the bits: include/uapi/linux/perf_event.h, union perf_mem_data_src; of the words:
 * output of perf 6.1. One thing differs: numbers of hops that have no name are told, where perf
 * prints
 * "(null)".
 */
#include "export/memory_words.h"

#include "base/memory.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdbool.h>

static u64 part_of(u64 source, u32 shift, u32 bits)
{
	return source >> shift & ((1u << bits) - 1);
}

static u64 level_of(u64 source)
{
	return part_of(source, PERF_MEM_LVL_SHIFT, 14);
}

/* The words of all bits that are set, "or" between them. */
static u32 append_bits(struct text *text, u64 bits, const char *const *words, size_t count)
{
	u32 appended = 0;

	for (size_t i = 0; i < count; i++) {
		if (!(bits >> i & 1))
			continue;
		if (appended++)
			text_append(text, " or ");
		text_append(text, words[i]);
	}
	return appended;
}

static void append_outcome(struct text *text, bool is_hit, bool is_miss)
{
	if (is_hit)
		text_append(text, " hit");
	if (is_miss)
		text_append(text, " miss");
}

void memory_append_operation(struct text *text, u64 source)
{
	static const char *const words[] = {"N/A", "LOAD", "STORE", "PFETCH", "EXEC"};

	for (size_t i = 0; i < ARRAY_COUNT(words); i++)
		if (source >> PERF_MEM_OP_SHIFT >> i & 1) {
			text_append(text, words[i]);
			return;
		}
	text_append(text, "No");
}

/* How far away: a remote cache or memory, in newer words. */
static void append_distance(struct text *text, u64 source)
{
	static const char *const hops[] = {NULL, "core, same node", "node, same socket",
					   "socket, same board", "board"};
	u64 count = part_of(source, PERF_MEM_HOPS_SHIFT, 3);

	if (part_of(source, PERF_MEM_REMOTE_SHIFT, 1))
		text_append(text, "Remote ");
	if (count < ARRAY_COUNT(hops) && count)
		text_appendf(text, "%s ", hops[count]);
	else if (count)
		text_appendf(text, "hops %u ", (u32)count);
}

/* The number of a level, which newer CPUs tell in place of a bit or beside it. */
static void append_level_number(struct text *text, u32 number)
{
	static const char *const words[16] = {
		[0x9] = "CXL",
		[0xa] = "I/O",
		[PERF_MEM_LVLNUM_ANY_CACHE] = "Any cache",
		[PERF_MEM_LVLNUM_LFB] = "LFB/MAB",
		[PERF_MEM_LVLNUM_RAM] = "RAM",
		[PERF_MEM_LVLNUM_PMEM] = "PMEM",
		[PERF_MEM_LVLNUM_NA] = "N/A",
	};

	if (words[number])
		text_append(text, words[number]);
	else
		text_appendf(text, "L%u", number);
}

void memory_append_level(struct text *text, u64 source)
{
	static const char *const words[] = {"N/A",
					    "",
					    "",
					    "L1",
					    "LFB/MAB",
					    "L2",
					    "L3",
					    "Local RAM",
					    "Remote RAM (1 hop)",
					    "Remote RAM (2 hops)",
					    "Remote Cache (1 hop)",
					    "Remote Cache (2 hops)",
					    "I/O",
					    "Uncached"};
	u64 level = level_of(source), outcome = PERF_MEM_LVL_HIT | PERF_MEM_LVL_MISS;
	u32 number = (u32)part_of(source, PERF_MEM_LVLNUM_SHIFT, 4);
	size_t begin = text->length;
	u32 appended;

	append_distance(text, source);
	appended = append_bits(text, level & ~outcome, words, ARRAY_COUNT(words));
	if (number && appended)
		text_append(text, " or ");
	if (number)
		append_level_number(text, number);
	if (text->length == begin)
		text_append(text, "N/A");
	append_outcome(text, level & PERF_MEM_LVL_HIT, level & PERF_MEM_LVL_MISS);
}

void memory_append_snoop(struct text *text, u64 source)
{
	static const char *const words[] = {"N/A", "None", "Hit", "Miss", "HitM", "Fwd", "Peer"};
	u64 bits = part_of(source, PERF_MEM_SNOOP_SHIFT, 5) |
		   part_of(source, PERF_MEM_SNOOPX_SHIFT, 2) << 5;

	if (!append_bits(text, bits, words, ARRAY_COUNT(words)))
		text_append(text, "N/A");
}

void memory_append_tlb(struct text *text, u64 source)
{
	static const char *const words[] = {"N/A", "", "", "L1", "L2", "Walker", "Fault"};
	u64 bits = part_of(source, PERF_MEM_TLB_SHIFT, 7);
	u64 outcome = PERF_MEM_TLB_HIT | PERF_MEM_TLB_MISS;

	if (!append_bits(text, bits & ~outcome, words, ARRAY_COUNT(words)))
		text_append(text, "N/A");
	append_outcome(text, bits & PERF_MEM_TLB_HIT, bits & PERF_MEM_TLB_MISS);
}

void memory_append_lock(struct text *text, u64 source)
{
	u64 bits = part_of(source, PERF_MEM_LOCK_SHIFT, 2);

	text_append(text, bits & PERF_MEM_LOCK_NA	? "N/A"
			  : bits & PERF_MEM_LOCK_LOCKED ? "Yes"
							: "No");
}

void memory_append_blocked(struct text *text, u64 source)
{
	u64 bits = part_of(source, PERF_MEM_BLK_SHIFT, 3);

	if (!bits || bits & PERF_MEM_BLK_NA)
		text_append(text, " N/A");
	else
		text_appendf(text, "%s%s", bits & PERF_MEM_BLK_DATA ? " Data" : "",
			     bits & PERF_MEM_BLK_ADDR ? " Addr" : "");
}

/* Whole numbers only; never "1G", as in perf, but "1024M". */
void memory_append_page(struct text *text, u64 bytes)
{
	enum { STEP = 1024 };
	static const char units[] = "BKMG";
	u32 unit = 0;

	for (; bytes / STEP > 1 && unit + 2 < sizeof(units); unit++)
		bytes /= STEP;
	if (!bytes)
		text_append(text, "N/A");
	else
		text_appendf(text, "%" PRIu64 "%c", bytes, units[unit]);
}

void memory_append_all(struct text *text, u64 source)
{
	text_append(text, "|OP ");
	memory_append_operation(text, source);
	text_append(text, "|LVL ");
	memory_append_level(text, source);
	text_append(text, "|SNP ");
	memory_append_snoop(text, source);
	text_append(text, "|TLB ");
	memory_append_tlb(text, source);
	text_append(text, "|LCK ");
	memory_append_lock(text, source);
	text_append(text, "|BLK ");
	memory_append_blocked(text, source);
}
