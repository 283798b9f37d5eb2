/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps by the rows of real binaries against libdw, register by register: the same made-up
 * registers and memory, stepped with the words that the BPF programs read and with libdw's
 * evaluation of the frame at that address.
 *
 * Takes a spread sample of rows; with TEST_ALL=1 (make test-all) all of them, and those of every
 * binary below /usr.
 *
 * usage: step_proof_test [FILE...]      all rows of these files
 */
#include "bpfprof/event.h"
#include "bpfprof/unwind_find.h"
#include "bpfprof/unwind_step.h"
#include "unit/map_file.h"
#include "unit/unit.h"
#include "unit/unwind/dwarf_eval.h"
#include "unwind/unwind.h"

#include <fcntl.h>
#include <ftw.h>
#include <gelf.h>
#include <stdlib.h>

enum {
	SAMPLE_ROWS = 8000,
	RULES_MAX = 1 << 16,
	PADDING_MAX = 15,
	ENTRY_BYTES = 128,
	SEGMENTS_MAX = 16
};

/* A path, or "cc1" for what gcc compiles with; what is not on this machine is left out. */
static const char *const binaries[] = {
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/usr/bin/perl",
	"/usr/bin/python3.11",
	"/usr/bin/python3.12",
	"cc1",
	"/lib/x86_64-linux-gnu/libLLVM-14.so.1",
	"/lib/aarch64-linux-gnu/libc.so.6",
	"/usr/aarch64-linux-gnu/lib/libc.so.6",
	"/usr/aarch64-linux-gnu/lib/libstdc++.so.6",
	"/proc/self/exe",
};

/* Where the proof is, for a failure's message. */
static struct {
	const char *path;
	u64 address;
} now;

/* Sums over all files of a test. */
static struct {
	u64 files, rows, addresses, unsupported, downwards, fp_lost, rbx_lost;
} sums;

struct proof {
	enum unwind_machine machine;
	u8 sp, fp, pc;
	Dwarf *dwarf;
	Dwarf_CFI *eh_frame, *debug_frame; /* either may be NULL */
	struct table_words words;
	u64 entry; /* address of a program's first instruction */
	GElf_Phdr segments[SEGMENTS_MAX];
	size_t segment_count;
	u64 rows, addresses, unsupported, downwards, fp_lost, rbx_lost;
};

static const u32 *read_chunk(void *context, u32 chunk)
{
	const struct proof *proof = context;
	u32 first = chunk * UNWIND_CHUNK_WORDS;

	return first < proof->words.word_count ? proof->words.words + first : NULL;
}

static bool read_word(void *context, u64 address, u64 *ret_word)
{
	*ret_word = eval_memory(address);
	(void)context;
	return true;
}

/* Registers far enough from one another that none can be taken for another. */
static struct eval_machine machine_at(const struct proof *proof, u64 address)
{
	struct eval_machine machine = {.pc_register = proof->machine == UNWIND_X86_64 ? proof->pc
										      : EVAL_PC};
	u64 seed = address * 0x9e3779b97f4a7c15ULL >> 40;

	for (u32 i = 0; i < EVAL_PC; i++)
		machine.registers[i] = 0x200000000000ULL + ((u64)i << 36) + (seed + i) * 16;
	machine.registers[proof->sp] = 0x100000000000ULL + seed * 16;
	machine.registers[EVAL_PC] = address;
	return machine;
}

static struct unwind_frame frame_of(const struct proof *proof, const struct eval_machine *machine)
{
	struct unwind_frame frame = {
		.pc = machine->registers[EVAL_PC],
		.sp = machine->registers[proof->sp],
		.fp = machine->registers[proof->fp],
		.lr = machine->registers[ARM64_LR],
		.rbx_at = UNWIND_IN_REGISTERS,
		.is_exact = 1,
		.has_lr = proof->machine == UNWIND_ARM64,
		.has_registers = 1,
	};

	memcpy(frame.registers, machine->registers, sizeof(frame.registers));
	return frame;
}

static const struct unwind_memory memory = {.read_word = read_word};

/* The caller's frame pointer; one that no rule can express is lost, and said to be. */
static void compare_fp(struct proof *proof, const struct unwind_frame *frame,
		       const struct eval_value *expected)
{
	proof->fp_lost += frame->fp_is_lost && !expected->is_undefined;
	if (!frame->fp_is_lost) {
		assert_false(expected->is_undefined);
		assert_int_equal(frame->fp, expected->value);
	}
}

/* The caller's rbx, likewise. */
static void compare_rbx(struct proof *proof, const struct unwind_frame *frame,
			const struct eval_value *expected)
{
	u64 value = 0;

	proof->rbx_lost += !frame->rbx_at && !expected->is_undefined;
	if (!frame->rbx_at)
		return;
	assert_int_equal(unwind_rbx(frame, memory, &value), END_UNKNOWN);
	assert_int_equal(value, expected->value);
}

static void compare_step(struct proof *proof, const struct unwind_rule *rule, Dwarf_Frame *oracle,
			 u64 address)
{
	struct eval_machine machine = machine_at(proof, address);
	struct unwind_frame frame = frame_of(proof, &machine);
	u8 end = unwind_step(proof->machine, &frame, rule, memory);
	struct eval_value pc, sp, fp, rbx;
	u64 cfa = 0;

	if (end == END_UNSUPPORTED) {
		proof->unsupported++;
		return;
	}
	assert_true(eval_cfa(oracle, &machine, &cfa));
	assert_true(eval_caller(oracle, &machine, cfa, proof->pc, &pc));
	assert_true(eval_caller(oracle, &machine, cfa, proof->sp, &sp));
	assert_true(eval_caller(oracle, &machine, cfa, proof->fp, &fp));
	assert_int_equal(end == END_COMPLETE, pc.is_undefined);
	if (end == END_COMPLETE)
		return;
	if (end == END_BROKEN) {
		/* Hand-written code that reads its frame from below the stack pointer. */
		assert_true(cfa <= machine.registers[proof->sp]);
		proof->downwards++;
		return;
	}
	assert_int_equal(end, END_UNKNOWN);
	assert_int_equal(frame.sp, cfa);
	assert_int_equal(frame.sp, sp.value);
	assert_int_equal(frame.pc, pc.value);
	compare_fp(proof, &frame, &fp);
	if (proof->machine != UNWIND_X86_64)
		return;
	assert_true(eval_caller(oracle, &machine, cfa, X86_64_RBX, &rbx));
	compare_rbx(proof, &frame, &rbx);
}

/* What libdw says of an address: the caller's to free(); NULL if nothing. */
static Dwarf_Frame *oracle_at(const struct proof *proof, u64 address)
{
	Dwarf_Frame *frame = NULL;

	if (proof->eh_frame && !dwarf_cfi_addrframe(proof->eh_frame, address, &frame))
		return frame;
	if (proof->debug_frame && !dwarf_cfi_addrframe(proof->debug_frame, address, &frame))
		return frame;
	return NULL;
}

/* Whether it says, there or at the next instruction, that the return address lies above the CFA: so
 * does glibc's dynamic linker for Arm, and rows know better. */
static bool is_mistaken(const struct proof *proof, u64 address)
{
	for (u64 i = 0; i <= 4 && proof->machine == UNWIND_ARM64; i += 4) {
		CLEANUP(freep) Dwarf_Frame *oracle = oracle_at(proof, address + i);
		struct eval_machine machine = machine_at(proof, address + i);
		struct eval_value pc = {0};
		u64 cfa = 0;

		if (oracle && eval_cfa(oracle, &machine, &cfa) &&
		    eval_caller(oracle, &machine, cfa, proof->pc, &pc) &&
		    pc.value == eval_memory(cfa + sizeof(u64)))
			return true;
	}
	return false;
}

/* Whether an address is in what a program begins with, and told to be the end of the stack. */
static bool is_entry(const struct proof *proof, const struct unwind_rule *rule, u64 address)
{
	return rule->cfa_kind == CFA_END && address - proof->entry < ENTRY_BYTES;
}

/* Whether a function follows within what may be padding. */
static bool is_padding(const struct proof *proof, u64 address)
{
	for (u64 i = 1; i <= PADDING_MAX; i++) {
		CLEANUP(freep) Dwarf_Frame *frame = oracle_at(proof, address + i);

		if (frame || address + i == proof->entry)
			return true;
	}
	return false;
}

static void compare_address(struct proof *proof, u64 offset, u64 address)
{
	const struct unwind_rule *rule = unwind_find(&proof->words.place, offset, read_chunk,
						     proof);
	bool has_rule = rule && rule->cfa_kind != CFA_NONE;
	CLEANUP(freep) Dwarf_Frame *oracle = oracle_at(proof, address);

	now.address = address;
	if (!oracle) {
		/* A page of more rows than an index word can count is unsupported as a whole. libdw
		 * reads .debug_frame up to the first padding between entries only. */
		assert_true(!has_rule || rule->cfa_kind == CFA_UNSUPPORTED || proof->debug_frame ||
			    is_entry(proof, rule, address) || is_padding(proof, address));
		return;
	}
	assert_true(has_rule);
	proof->addresses++;
	if (is_mistaken(proof, address))
		return;
	compare_step(proof, rule, oracle, address);
}

/* Compares at offsets in [start, end): the first and the last, and all of a PLT's first stubs. */
static void compare_row(struct proof *proof, u32 kind, u64 start, u64 end)
{
	for (size_t i = 0; i < proof->segment_count; i++) {
		u64 in_segment = start - proof->segments[i].p_offset;
		u64 address = proof->segments[i].p_vaddr + in_segment;

		if (in_segment >= proof->segments[i].p_filesz)
			continue;
		proof->rows++;
		compare_address(proof, start, address);
		for (u64 at = 1; at + 1 < end - start && at < 64 && kind == CFA_PLT; at++)
			compare_address(proof, start + at, address + at);
		if (end - start > 1)
			compare_address(proof, end - 1, address + (end - 1 - start));
		return;
	}
}

/* Every `stride`-th row, up to where the next row or page begins. */
static void compare_rows(struct proof *proof, const struct unwind_table *table,
			 const struct rule_set *rules, u32 stride)
{
	for (u32 page = 0; page < table->page_count; page++) {
		u64 page_start = (u64)(table->first_page + page) << UNWIND_PAGE_BITS;

		for (u32 row = table->page_rows[page]; row < table->page_rows[page + 1]; row++) {
			u32 number = unwind_row_rule(table->rows[row]);
			u64 end = page_start + (1 << UNWIND_PAGE_BITS);

			if (row % stride)
				continue;
			if (row + 1 < table->page_rows[page + 1])
				end = page_start + (table->rows[row + 1] >> UNWIND_RULE_BITS);
			compare_row(proof, rules->rules.items[number].cfa_kind,
				    page_start + (table->rows[row] >> UNWIND_RULE_BITS), end);
		}
	}
}

static void read_segments(struct proof *proof, Elf *elf)
{
	size_t count;

	assert_int_equal(elf_getphdrnum(elf, &count), 0);
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;

		assert_non_null(gelf_getphdr(elf, (int)i, &segment));
		if (segment.p_type == PT_LOAD && segment.p_flags & PF_X &&
		    proof->segment_count < SEGMENTS_MAX)
			proof->segments[proof->segment_count++] = segment;
	}
}

static void proof_open(struct proof *proof, Elf *elf)
{
	GElf_Ehdr header;

	assert_non_null(gelf_getehdr(elf, &header));
	proof->entry = header.e_entry;
	proof->machine = header.e_machine == EM_X86_64 ? UNWIND_X86_64 : UNWIND_ARM64;
	proof->sp = proof->machine == UNWIND_X86_64 ? X86_64_SP : ARM64_SP;
	proof->fp = proof->machine == UNWIND_X86_64 ? X86_64_FP : ARM64_FP;
	proof->pc = proof->machine == UNWIND_X86_64 ? 16 : ARM64_LR;
	proof->eh_frame = dwarf_getcfi_elf(elf);
	proof->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (proof->dwarf)
		proof->debug_frame = dwarf_getcfi(proof->dwarf);
	read_segments(proof, elf);
}

static void prove_table(struct proof *proof, const struct unwind_table *table,
			const struct rule_set *rules, bool all)
{
	assert_int_equal(table_words_make(table, rules, &proof->words), 0);
	/* A chunk is read whole. */
	proof->words.words = must_resize_array(
		proof->words.words, proof->words.word_count + UNWIND_CHUNK_WORDS, sizeof(u32));
	compare_rows(proof, table, rules, all ? 1 : table->row_count / SAMPLE_ROWS + 1);
	table_words_release(&proof->words);
	sums.files++;
	sums.rows += proof->rows;
	sums.addresses += proof->addresses;
	sums.unsupported += proof->unsupported;
	sums.downwards += proof->downwards;
	sums.fp_lost += proof->fp_lost;
	sums.rbx_lost += proof->rbx_lost;
}

/* Proves a file; one without rows, or of another machine, proves nothing. */
static struct proof prove(const char *path, struct bytes image, bool all)
{
	/* Not from the image: libdw unpacks sections in place. */
	CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	struct unwind_table *table = NULL;
	struct proof proof = {0};
	struct rule_set rules;

	now.path = path;
	rule_set_init(&rules);
	if (!unwind_table_read(image, &rules, RULES_MAX, &table) && table->row_count) {
		proof_open(&proof, elf);
		prove_table(&proof, table, &rules, all);
		dwarf_cfi_end(proof.eh_frame);
		dwarf_end(proof.dwarf);
	}
	elf_end(elf);
	unwind_table_free(table);
	rule_set_release(&rules);
	now.path = NULL;
	return proof;
}

static int say_where(void **state)
{
	if (now.path)
		print_error("# in %s at address 0x%lx\n", now.path, now.address);
	else
		print_message(
			"# %lu files, %lu rows, %lu addresses: 0 differences; %lu unsupported, "
			"%lu downwards, %lu frame pointers and %lu rbx lost\n",
			sums.files, sums.rows, sums.addresses, sums.unsupported, sums.downwards,
			sums.fp_lost, sums.rbx_lost);
	memset(&now, 0, sizeof(now));
	memset(&sums, 0, sizeof(sums));
	(void)state;
	return 0;
}

/* The path of a binary; the caller's to free(). */
static char *path_of(const char *binary)
{
	char path[4096] = "";
	FILE *pipe;

	if (strcmp(binary, "cc1"))
		return must_copy(binary);
	pipe = popen("gcc -print-prog-name=cc1", "r");
	assert_non_null(pipe);
	if (fgets(path, sizeof(path), pipe))
		path[strcspn(path, "\n")] = 0;
	pclose(pipe);
	return must_copy(path);
}

static bool is_all(void)
{
	const char *setting = getenv("TEST_ALL");

	return setting && *setting;
}

static void steps_equal_libdws(void **state)
{
	for (size_t i = 0; i < ARRAY_COUNT(binaries); i++) {
		CLEANUP(file_unmap) struct bytes image = {0};
		CLEANUP(freep) char *path = path_of(binaries[i]);
		struct proof proof;

		if (map_file(path, &image))
			continue; /* not on this machine */
		proof = prove(path, image, is_all());
		assert_true(proof.addresses > 100);
		/* What cannot be stepped over is rare. */
		assert_true(proof.unsupported + proof.fp_lost <= proof.addresses / 1000 + 8);
	}
	assert_true(sums.files >= 2);
	(void)state;
}

static int prove_file(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	CLEANUP(file_unmap) struct bytes image = {0};

	if (type == FTW_F && S_ISREG(status->st_mode) && !map_file(path, &image))
		prove(path, image, true);
	(void)walk;
	return 0;
}

static void steps_of_every_binary_here_equal_libdws(void **state)
{
	if (!is_all())
		return;
	assert_int_equal(nftw("/usr", prove_file, 16, FTW_PHYS | FTW_MOUNT), 0);
	assert_true(sums.files > 100);
	(void)state;
}

/* The files of the command line. */
static void steps_of_files_equal_libdws(void **state)
{
	for (char **path = *state; *path; path++) {
		CLEANUP(file_unmap) struct bytes image = {0};

		assert_int_equal(map_file(*path, &image), 0);
		prove(*path, image, true);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(steps_equal_libdws, say_where),
		cmocka_unit_test_teardown(steps_of_every_binary_here_equal_libdws, say_where),
	};
	const struct CMUnitTest of_files[] = {
		cmocka_unit_test_prestate_setup_teardown(steps_of_files_equal_libdws, NULL,
							 say_where, argv + 1),
	};

	elf_version(EV_CURRENT);
	return argc > 1 ? cmocka_run_group_tests(of_files, NULL, NULL)
			: cmocka_run_group_tests(tests, NULL, NULL);
}
