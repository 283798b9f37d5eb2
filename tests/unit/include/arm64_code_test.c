/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How code of Arm returns, told by its instructions. See way_proof_test.c for that of libraries.
 */
#include "bpfprof/arm64_code.h"

#include "base/memory.h"
#include "unit/unit.h"

enum { RET = 0xd65f03c0, NOP = 0xd503201f };

/* Code, as words, up to the first 0; `from` is where the thread is. */
struct code {
	const char *text;
	u32 words[12];
	u32 from;
	struct arm64_way way; /* what is expected of its end, sp, record */
};

static struct arm64_way follow(const u32 *words, u32 count, u32 from)
{
	struct arm64_way way = {.pc = from * sizeof(u32)};

	for (u32 i = 0; i < ARM64_WAY_INSTRUCTIONS && way.pc / 4 < count; i++)
		if (!arm64_follow(&way, words[way.pc / 4]))
			break;
	return way;
}

#define BARE(bytes)                                  \
	{                                            \
		.end = ARM64_WAY_BARE, .sp = (bytes) \
	}
#define RECORD(at, up)                                              \
	{                                                           \
		.end = ARM64_WAY_RECORD, .record = (at), .sp = (up) \
	}
#define UNKNOWN                          \
	{                                \
		.end = ARM64_WAY_UNKNOWN \
	}

/* As gas writes them. */
static const struct code ends[] = {
	{"ret", {RET}, 0, BARE(0)},
	{"retaa", {0xd65f0bff}, 0, BARE(0)},
	{"retab", {0xd65f0fff}, 0, BARE(0)},
	{"autiasp; ret", {0xd50323bf, RET}, 0, BARE(0)},
	{"mov w0, #0; cbz x1, …; svc #0; ret",
	 {0x52800000, 0xb4000041, 0xd4000001, RET},
	 0,
	 BARE(0)},
	{"subs x9, x9, #1; b.ne -4; ret", {0xf1000529, 0x54ffffe1, RET}, 0, BARE(0)},
	{"b +8; (udf); ret", {0x14000002, 0, RET}, 0, BARE(0)},
	{"ret; b -4", {RET, 0x17ffffff}, 1, BARE(0)},
	{"add sp, sp, #96; ret", {0x910183ff, RET}, 0, BARE(96)},
	{"add sp, sp, #1, lsl #12; ret", {0x914007ff, RET}, 0, BARE(4096)},
	{"ldp x19, x20, [sp], #32; ret", {0xa8c253f3, RET}, 0, BARE(32)},
	{"ldp d8, d9, [sp], #16; ret", {0x6cc127e8, RET}, 0, BARE(16)},
	{"ldr x19, [sp], #16; ret", {0xf84107f3, RET}, 0, BARE(16)},
	{"ldp x19, x20, [sp, #16]; ldr x0, [sp, #8]; ret",
	 {0xa94153f3, 0xf94007e0, RET},
	 0,
	 BARE(0)},
	{"ldp x29, x30, [sp], #16; ret", {0xa8c17bfd, RET}, 0, RECORD(0, 16)},
	{"the same behind bl", {0x94000010, 0xa8c17bfd, RET}, 0, RECORD(0, 16)},
	{"the same behind blr x9", {0xd63f0120, 0xa8c17bfd, RET}, 0, RECORD(0, 16)},
	{"the same behind its load", {0xa8c17bfd, RET}, 1, BARE(0)},
	{"ldp x29, x30, [sp, #32]; add sp, sp, #112; ret",
	 {0xa9427bfd, 0x9101c3ff, RET},
	 0,
	 RECORD(32, 112)},
	{"ldp x29, x30, [sp, #-8]; add sp, sp, #64; ret",
	 {0xa97ffbfd, 0x910103ff, RET},
	 0,
	 RECORD(-8, 64)},
	{"mov sp, x29; ldp x29, x30, [sp], #48; ret",
	 {0x910003bf, 0xa8c37bfd, RET},
	 0,
	 RECORD(0, 48)},
	{"sub sp, x29, #16; ldp x29, x30, [sp, #16]; add sp, sp, #64; ret",
	 {0xd10043bf, 0xa9417bfd, 0x910103ff, RET},
	 0,
	 RECORD(0, 48)},
	/* What comes in the way. */
	{"bl; ret", {0x94000010, RET}, 0, UNKNOWN},
	{"mov sp, x29; ldp x29, x30, [sp, #16]; ret", {0x910003bf, 0xa9417bfd, RET}, 0, UNKNOWN},
	{"mov sp, x29; ret", {0x910003bf, RET}, 0, UNKNOWN},
	{"ldp x29, x30, [sp], #16; bl; ret", {0xa8c17bfd, 0x94000010, RET}, 0, UNKNOWN},
	{"ldp x29, x30, [sp], #16, twice; ret", {0xa8c17bfd, 0xa8c17bfd, RET}, 0, UNKNOWN},
	{"ldp x29, x30, [sp]; ret", {0xa9407bfd, RET}, 0, UNKNOWN},
	{"br x16", {0xd61f0200}, 0, UNKNOWN},
	{"brk #1", {0xd4200020, RET}, 0, UNKNOWN},
	{"b to itself", {0x14000000}, 0, UNKNOWN},
	{"ret x17", {0xd65f0220}, 0, UNKNOWN},
	{"udf", {0, RET}, 0, UNKNOWN},
};

static void the_way_to_the_return_is_told(void **state)
{
	for (size_t i = 0; i < ARRAY_COUNT(ends); i++) {
		const struct arm64_way *expected = &ends[i].way;
		struct arm64_way way = follow(ends[i].words, ARRAY_COUNT(ends[i].words),
					      ends[i].from);

		print_message("# %s\n", ends[i].text);
		assert_int_equal(way.end, expected->end);
		if (way.end == ARM64_WAY_BARE)
			assert_int_equal(way.sp, expected->sp);
		if (way.end == ARM64_WAY_RECORD) {
			assert_int_equal(way.sp - way.record, expected->sp - expected->record);
			if (!way.is_from_fp)
				assert_int_equal(way.record, expected->record);
		}
	}
	(void)state;
}

/* Each may leave something else in sp, x29 or x30 than what was there. */
static const struct {
	const char *text;
	u32 word;
} spoilers[] = {
	{"sub sp, sp, #16", 0xd10043ff},
	{"add sp, sp, x1", 0x8b2163ff},
	{"mov sp, x9", 0x9100013f},
	{"and sp, x9, #-16", 0x927ced3f},
	{"orr sp, xzr, #15", 0xb2400fff},
	{"addg sp, sp, #16, #0", 0x918103ff},
	{"irg sp, sp", 0x9adf13ff},
	{"str x0, [sp, #-16]!", 0xf81f0fe0},
	{"stp x29, x30, [sp, #-16]!", 0xa9bf7bfd},
	{"stp x19, x20, [sp, #-16]!", 0xa9bf53f3},
	{"str q0, [sp], #16", 0x3c8107e0},
	{"ldp q0, q1, [sp], #32", 0xacc107e0},
	{"ld1 {v0.16b}, [sp], #16", 0x4cdf73e0},
	{"ldraa x0, [sp, #8]!", 0xf8201fe0},
	{"mov x29, sp", 0x910003fd},
	{"mov x30, x15", 0xaa0f03fe},
	{"mov x29, #0", 0xd280001d},
	{"adr x30, .", 0x1000001e},
	{"ldr x30, [sp], #16", 0xf84107fe},
	{"ldr x30, [x0]", 0xf940001e},
	{"ldr x29, literal", 0x5800001d},
	{"ldp x0, x30, [x1]", 0xa9407820},
	{"ldr x0, [x29], #8", 0xf84087a0},
	{"ldxr x30, [x0]", 0xc85f7c1e},
	{"stxr w29, x0, [x1]", 0xc81d7c20},
	{"casp x28, x29, x0, x1, [x2]", 0x483c7c40},
	{"swp x0, x30, [x1]", 0xf820803e},
	{"ld64b x22, [x0]", 0xf83fd016},
	{"cpyp [x0]!, [x1]!, x2!", 0x1d010440},
	{"mrs x30, tpidr_el0", 0xd53bd05e},
	{"fmov x29, d0", 0x9e66001d},
	{"fcvtzs x30, d0", 0x9e78001e},
	{"umov x29, v0.d[0]", 0x4e083c1d},
	{"addvl sp, sp, #1", 0x043f503f},
	{"pacia x30, sp", 0xdac103fe},
};

/* Each looks like one of those, and leaves them alone. */
static const struct {
	const char *text;
	u32 word;
} others[] = {
	{"cmp x0, #1", 0xf100041f},
	{"cmp sp, x0", 0xeb2063ff},
	{"tst x0, #1", 0xf240001f},
	{"ands xzr, x0, x1", 0xea01001f},
	{"add x0, sp, #16", 0x910043e0},
	{"add x9, x29, #16", 0x910043a9},
	{"str xzr, [sp, #8]", 0xf90007ff},
	{"stur x0, [sp, #-8]", 0xf81f83e0},
	{"stp x0, x1, [sp, #16]", 0xa90107e0},
	{"str x0, [x1], #8", 0xf8008420},
	{"ldr q30, [x0]", 0x3dc0001e},
	{"ldp q29, q30, [x0]", 0xad40781d},
	{"ldr x0, literal", 0x580007e0},
	{"ldaxr x0, [x1]", 0xc85ffc20},
	{"stlr x0, [x1]", 0xc89ffc20},
	{"ldadd x0, x1, [x2]", 0xf8200041},
	{"prfm pldl1keep, [x0]", 0xf9800000},
	{"eor v29.16b, v30.16b, v31.16b", 0x6e3f1fdd},
	{"aese v30.16b, v29.16b", 0x4e284bbe},
	{"ccmp x0, #0, #15, ne", 0xfa40180f},
	{"mrs x0, tpidr_el0", 0xd53bd040},
	{"dmb ishld", 0xd50339bf},
	{"paciasp", 0xd503233f},
	{"tbz x30, #0, .", 0x3600001e},
	{"cbz x29, .", 0xb400001d},
};

static void what_may_spoil_the_registers_ends_the_way(void **state)
{
	for (size_t i = 0; i < ARRAY_COUNT(spoilers); i++) {
		struct arm64_way way = {0};

		print_message("# %s\n", spoilers[i].text);
		assert_false(arm64_follow(&way, spoilers[i].word));
		assert_int_equal(way.end, ARM64_WAY_UNKNOWN);
	}
	(void)state;
}

static void what_leaves_the_registers_alone_is_passed(void **state)
{
	for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
		struct arm64_way way = {0};

		print_message("# %s\n", others[i].text);
		assert_true(arm64_follow(&way, others[i].word));
		assert_int_equal(way.pc, 4);
		assert_int_equal(way.sp, 0);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_way_to_the_return_is_told),
		cmocka_unit_test(what_may_spoil_the_registers_ends_the_way),
		cmocka_unit_test(what_leaves_the_registers_alone_is_passed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
