/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the code of Arm's libraries says of how it returns against what its call frame information
 * says: from every instruction of theirs. Needs no Arm machine, only its libraries.
 */
#include "base/memory.h"
#include "bpfprof/arm64_code.h"
#include "bpfprof/unwind_find.h"
#include "unit/map_file.h"
#include "unit/unit.h"
#include "unwind/unwind.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { RULES_MAX = 1 << 16, NOP = 0xd503201f };

static const char *const libraries[] = {
	"/usr/aarch64-linux-gnu/lib/libc.so.6", "/usr/aarch64-linux-gnu/lib/libstdc++.so.6",
	"/usr/aarch64-linux-gnu/lib/libm.so.6", "/usr/aarch64-linux-gnu/lib/libgcc_s.so.1",
	"/lib/aarch64-linux-gnu/libc.so.6",
};

/* Where the proof is, for a failure's message. */
static struct {
	const char *path;
	u64 offset;
	struct arm64_way way;
} now;

/* A library's code, and its table. */
struct proof {
	struct bytes image;
	struct table_words words;
	u64 start, end;	     /* of the segment, file offsets */
	u64 instructions[3]; /* by enum arm64_way_end */
};

static const u32 *read_chunk(void *context, u32 chunk)
{
	const struct proof *proof = context;
	u32 first = chunk * UNWIND_CHUNK_WORDS;

	return first < proof->words.word_count ? proof->words.words + first : NULL;
}

static u32 instruction_at(const struct proof *proof, u64 offset)
{
	u32 instruction;

	memcpy(&instruction, proof->image.start + offset, sizeof(instruction));
	return instruction;
}

static struct arm64_way follow(const struct proof *proof, u64 offset)
{
	struct arm64_way way = {.pc = offset};

	for (u32 i = 0; i < ARM64_WAY_INSTRUCTIONS; i++)
		if (way.pc < proof->start || way.pc + 4 > proof->end ||
		    !arm64_follow(&way, instruction_at(proof, way.pc)))
			break;
	return way;
}

/* Whether an instruction loads x30 from the stack, alone or as one of two. */
static bool loads_link(u32 i)
{
	bool is_pair = ARM64_IS(i, 0xfec003e0, 0xa84003e0) || ARM64_IS(i, 0xffc003e0, 0xa8c003e0);

	return ARM64_IS(i, 0xffc003ff, 0xf94003fe) || ARM64_IS(i, 0xffe00fff, 0xf84007fe) ||
	       (is_pair && ((i & 31) == ARM64_LR || (i >> 10 & 31) == ARM64_LR));
}

/* Whether the link register has been loaded by the instructions right before: its place in memory,
 * which call frame information may go on to name, holds the same. */
static bool is_loaded(const struct proof *proof, u64 offset)
{
	for (u64 at = offset - 4; at > proof->start && at + 200 > offset; at -= 4) {
		struct arm64_way way = {0};

		if (loads_link(instruction_at(proof, at)))
			return true;
		if (!arm64_follow(&way, instruction_at(proof, at)) || way.pc != 4)
			return false;
	}
	return false;
}

/* The rule must say the same. */
static void compare(const struct proof *proof, const struct unwind_rule *rule)
{
	const struct arm64_way *way = &now.way;
	s64 above = way->sp - way->record;

	assert_int_equal(rule->cfa_kind, CFA_REGISTER);
	if (rule->cfa_register == ARM64_SP && !way->is_from_fp)
		assert_int_equal(rule->cfa_offset, way->sp);
	if (way->end == ARM64_WAY_BARE && !is_loaded(proof, now.offset)) {
		assert_int_equal(rule->cfa_register, ARM64_SP);
		assert_int_equal(rule->pc_kind, SAVED_SAME);
		assert_int_equal(rule->fp_kind, SAVED_SAME);
	}
	if (way->end == ARM64_WAY_RECORD) {
		assert_int_equal(rule->pc_kind, SAVED_AT_CFA);
		assert_int_equal(rule->fp_kind, SAVED_AT_CFA);
		assert_int_equal(rule->fp_offset, -above);
		assert_int_equal(rule->pc_offset, 8 - above);
	}
}

/* Every instruction that can be run: nops fill up room. */
static void compare_segment(struct proof *proof)
{
	for (u64 at = (proof->start + 3) & ~3ULL; at + 4 <= proof->end; at += 4) {
		const struct unwind_rule *rule = unwind_find(&proof->words.place, at, read_chunk,
							     proof);

		/* setcontext() has rules for the registers of another context. */
		if (!rule || rule->cfa_register < ARM64_FP || instruction_at(proof, at) == NOP)
			continue;
		now.offset = at;
		now.way = follow(proof, at);
		proof->instructions[now.way.end]++;
		if (now.way.end != ARM64_WAY_UNKNOWN)
			compare(proof, rule);
	}
}

static void compare_segments(struct proof *proof)
{
	Elf64_Ehdr header;

	memcpy(&header, proof->image.start, sizeof(header));
	for (u32 i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;

		memcpy(&segment, proof->image.start + header.e_phoff + i * sizeof(segment),
		       sizeof(segment));
		if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
			continue;
		proof->start = segment.p_offset;
		proof->end = segment.p_offset + segment.p_filesz;
		compare_segment(proof);
	}
}

static void prove(const char *path, struct bytes image)
{
	struct unwind_table *table = NULL;
	struct proof proof = {.image = image};
	struct rule_set rules;

	now.path = path;
	rule_set_init(&rules);
	assert_int_equal(unwind_table_read(image, &rules, RULES_MAX, &table), 0);
	assert_int_equal(table_words_make(table, &rules, &proof.words), 0);
	/* A chunk is read whole. */
	proof.words.words = must_resize_array(
		proof.words.words, proof.words.word_count + UNWIND_CHUNK_WORDS, sizeof(u32));
	compare_segments(&proof);
	print_message("# %s: %lu instructions in code without a frame, %lu in code with a record, "
		      "%lu not told\n",
		      path, proof.instructions[ARM64_WAY_BARE],
		      proof.instructions[ARM64_WAY_RECORD], proof.instructions[ARM64_WAY_UNKNOWN]);
	/* Most of the code can be told. */
	assert_true(proof.instructions[ARM64_WAY_BARE] > 1000);
	assert_true(proof.instructions[ARM64_WAY_RECORD] > 1000);
	table_words_release(&proof.words);
	unwind_table_free(table);
	rule_set_release(&rules);
	now.path = NULL;
}

static int say_where(void **state)
{
	if (now.path)
		print_error("# in %s at file offset 0x%lx: end %d, sp %ld, record %ld\n", now.path,
			    now.offset, now.way.end, now.way.sp, now.way.record);
	memset(&now, 0, sizeof(now));
	(void)state;
	return 0;
}

static void code_returns_as_its_call_frame_information_says(void **state)
{
	u32 files = 0;

	for (size_t i = 0; i < ARRAY_COUNT(libraries); i++) {
		CLEANUP(file_unmap) struct bytes image = {0};

		if (map_file(libraries[i], &image))
			continue; /* not on this machine */
		files++;
		prove(libraries[i], image);
	}
	if (!files)
		skip();
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(code_returns_as_its_call_frame_information_says,
					  say_where),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
