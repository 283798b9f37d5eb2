/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Segments of a file that no linker makes: nothing of it is read where it is not.
 */
#include "lbr/code_callers.h"
#include "lbr/code_facts.h"
#include "unit/unit.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>

enum { FILE_BYTES = 1 << 20, FIRST_BYTES = 0x1000, SECOND_BYTES = 0x40000 };

static Elf64_Phdr segment_at(u64 address, u64 bytes)
{
	return (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_vaddr = address,
		.p_filesz = bytes,
		.p_memsz = bytes,
	};
}

/* Of an ELF file with so many segments. Its bytes go with its facts. */
static struct code_facts *facts_of(const Elf64_Phdr *segments, u16 count)
{
	struct code_image image = {0};
	u8 *bytes = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(*segments),
		.e_phnum = count,
	};

	assert_ptr_not_equal(bytes, MAP_FAILED);
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), segments, count * sizeof(*segments));
	assert_int_equal(code_image_take((struct bytes){bytes, FILE_BYTES}, &image), 0);
	return code_facts_new(&image, false, NULL);
}

static void expect_functions(struct code_facts *facts, u32 count, u64 end)
{
	code_callers_find(facts);
	assert_int_equal(facts->functions.count, count);
	assert_int_equal(code_facts_function(facts, end - 1), count - 1);
	assert_int_equal(code_facts_function(facts, end), NO_FUNCTION);
	code_facts_free(facts);
}

static void of_segments_that_overlap_the_first_holds(void **state)
{
	const Elf64_Phdr segments[] = {segment_at(0x1000, FIRST_BYTES),
				       segment_at(0x1800, SECOND_BYTES)};

	expect_functions(facts_of(segments, 2), 1, 0x1000 + FIRST_BYTES);
	(void)state;
}

static void segments_may_come_in_any_order(void **state)
{
	const Elf64_Phdr segments[] = {segment_at(0x2000, SECOND_BYTES),
				       segment_at(0x1000, FIRST_BYTES)};

	expect_functions(facts_of(segments, 2), 2, 0x2000 + SECOND_BYTES);
	(void)state;
}

static void the_same_segment_again_and_again_is_one(void **state)
{
	Elf64_Phdr segments[4096];

	for (u32 i = 0; i < ARRAY_COUNT(segments); i++)
		segments[i] = segment_at(0x1000, SECOND_BYTES);
	expect_functions(facts_of(segments, ARRAY_COUNT(segments)), 1, 0x1000 + SECOND_BYTES);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_segments_that_overlap_the_first_holds),
		cmocka_unit_test(segments_may_come_in_any_order),
		cmocka_unit_test(the_same_segment_again_and_again_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
