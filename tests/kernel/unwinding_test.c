/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwinder's parts in the kernel: rules are found in tables, and mappings in the kernel's tree
 * of them, as they are outside.
 */
#include "kernel/recording.h"

#include "bpfprof/settings.h"
#include "unit/map_file.h"
#include "unwind/unwind.h"
#include "unwinding.h"
#include "unwinding.skel.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { MAPPINGS = 1000, RULES_MAX = 1 << 16 };

/* The loaded programs, and the questions as memory. */
struct asker {
	struct unwinding_bpf *skeleton;
	struct question *questions;
};

static void asker_release(struct asker *asker)
{
	unwinding_bpf__destroy(asker->skeleton);
}

/* Loads the programs; skips the test where that is not allowed, or before Linux 5.14. */
static void load(struct asker *asker, const struct unwind_place *place)
{
	skip_without_permission();
	asker->skeleton = unwinding_bpf__open();
	assert_non_null(asker->skeleton);
	*(struct unwind_place *)&asker->skeleton->rodata->place = *place;
	((struct program_settings *)&asker->skeleton->rodata->settings)->page_bits =
		(u8)__builtin_ctzl((unsigned long)getpagesize());
	bpf_map__set_max_entries(asker->skeleton->maps.counters, 1);
	if (unwinding_bpf__load(asker->skeleton))
		skip();
	asker->questions = mmap(NULL, QUESTIONS_MAX * sizeof(struct question),
				PROT_READ | PROT_WRITE, MAP_SHARED,
				bpf_map__fd(asker->skeleton->maps.questions), 0);
	assert_true(asker->questions != MAP_FAILED);
}

static u32 run(const struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);

	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(program), &options), 0);
	return options.retval;
}

static void ask(const struct bpf_program *program)
{
	assert_int_equal(run(program), 0);
}

/* Puts the words into segments of the programs' map. */
static void store_words(const struct asker *asker, const u32 *words, size_t count)
{
	size_t left = count;

	for (u32 segment = 0; left; segment++) {
		LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
		size_t here = left < UNWIND_SEGMENT_WORDS ? left : UNWIND_SEGMENT_WORDS;
		int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, 4, UNWIND_CHUNK_WORDS * 4,
					UNWIND_SEGMENT_CHUNKS, &options);
		void *memory = mmap(NULL, UNWIND_SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
				    fd, 0);

		assert_true(memory != MAP_FAILED);
		memcpy(memory, words, here * sizeof(u32));
		munmap(memory, UNWIND_SEGMENT_BYTES);
		assert_int_equal(
			bpf_map_update_elem(bpf_map__fd(asker->skeleton->maps.unwind_segments),
					    &segment, &fd, BPF_ANY),
			0);
		close(fd);
		words += here;
		left -= here;
	}
}

/* Offsets spread over the table and a little beyond. */
static void ask_offsets(struct asker *asker, const struct unwind_table *table)
{
	u64 start = (u64)table->first_page << UNWIND_PAGE_BITS;
	u64 bytes = (u64)(table->page_count + 1) << UNWIND_PAGE_BITS;

	for (u64 i = 0; i < QUESTIONS_MAX; i++)
		asker->questions[i].asked = start + bytes / QUESTIONS_MAX * i + i % 61;
	ask(asker->skeleton->progs.answer_rules);
}

static void the_rule_found_in_the_kernel_is_the_one_found_outside(void **state)
{
	CLEANUP(unwind_table_freep) struct unwind_table *table = NULL;
	CLEANUP(table_words_release) struct table_words words = {0};
	CLEANUP(asker_release) struct asker asker = {0};
	CLEANUP(file_unmap) struct bytes image = {0};
	struct rule_set rules;
	u32 found = 0;

	assert_int_equal(map_file("/proc/self/exe", &image), 0);
	rule_set_init(&rules);
	assert_int_equal(unwind_table_read(image, &rules, RULES_MAX, &table), 0);
	assert_int_equal(table_words_make(table, &rules, &words), 0);
	load(&asker, &words.place);
	store_words(&asker, words.words, words.word_count);
	ask_offsets(&asker, table);
	for (u32 i = 0; i < QUESTIONS_MAX; i++) {
		const struct question *question = &asker.questions[i];
		u32 number = unwind_table_find(table, question->asked);

		found += question->has_answer != 0;
		assert_memory_equal(&question->rule, &rules.rules.items[number],
				    sizeof(question->rule));
	}
	assert_true(found > QUESTIONS_MAX / 2);
	rule_set_release(&rules);
	(void)state;
}

/* Every second page of many may be written, so that each is a mapping of its own. */
static char *map_stripes(void)
{
	size_t page = (size_t)getpagesize();
	char *start = mmap(NULL, MAPPINGS * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(start != MAP_FAILED);
	for (size_t i = 0; i < MAPPINGS; i += 2)
		assert_int_equal(mprotect(start + i * page, page, PROT_READ | PROT_WRITE), 0);
	return start;
}

struct range {
	u64 start, end;
};

/* The mappings in the text of /proc/self/maps. Returns how many. */
static size_t parse_maps(const char *text, struct range ranges[QUESTIONS_MAX])
{
	size_t count = 0;

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		struct range *range = &ranges[count];

		line += *line == '\n';
		if (count < QUESTIONS_MAX &&
		    sscanf(line, "%lx-%lx", &range->start, &range->end) == 2 && !(range->end >> 63))
			count++; /* the vsyscall page is no mapping */
	}
	return count;
}

/* The range that holds the address, NULL if none does. */
static const struct range *find_range(const struct range *ranges, size_t count, u64 address)
{
	for (size_t i = 0; i < count; i++)
		if (address >= ranges[i].start && address < ranges[i].end)
			return &ranges[i];
	return NULL;
}

/* Asks for the edges of every mapping, as far as there are questions. Returns how many. */
static u32 ask_edges(struct asker *asker, const struct range *ranges, size_t count)
{
	u32 asked = 0;

	for (size_t i = 0; i < count && asked + 4 <= QUESTIONS_MAX; i++) {
		asker->questions[asked++].asked = ranges[i].start - 1;
		asker->questions[asked++].asked = ranges[i].start;
		asker->questions[asked++].asked = ranges[i].end - 1;
		asker->questions[asked++].asked = ranges[i].end;
	}
	ask(asker->skeleton->progs.answer_mappings);
	return asked;
}

/* /proc/self/maps, read without changing it. */
static const char *read_maps(void)
{
	static char text[1 << 20];
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t got;

	while ((got = read(fd, text + length, sizeof(text) - 1 - length)) > 0)
		length += (size_t)got;
	close(fd);
	assert_int_equal(got, 0);
	return text;
}

static void every_mapping_is_found_in_the_tree(void **state)
{
	static struct range ranges[QUESTIONS_MAX];
	CLEANUP(asker_release) struct asker asker = {0};
	char *stripes = map_stripes();
	size_t count;
	u32 asked;

	load(&asker, &(struct unwind_place){0});
	count = parse_maps(read_maps(), ranges);
	asked = ask_edges(&asker, ranges, count);
	assert_true(asked > 4 * MAPPINGS / 2);
	for (u32 i = 0; i < asked; i++) {
		const struct question *question = &asker.questions[i];
		const struct range *range = find_range(ranges, count, question->asked);

		assert_int_equal(question->has_answer, range != NULL);
		if (!range)
			continue;
		assert_int_equal(question->start, range->start);
		assert_int_equal(question->end, range->end);
	}
	munmap(stripes, MAPPINGS * (size_t)getpagesize());
	(void)state;
}

/* A file of two pages, in memory. Returns its descriptor. */
static int make_code(u64 *ret_inode)
{
	int fd = memfd_create("code", MFD_CLOEXEC);
	struct stat status;

	assert_int_equal(ftruncate(fd, 2 * getpagesize()), 0);
	assert_int_equal(fstat(fd, &status), 0);
	*ret_inode = status.st_ino;
	return fd;
}

/* Maps `pages` of the file from page `first` on as code, at `address` if that is not NULL. */
static char *map_code(int fd, char *address, size_t pages, size_t first)
{
	size_t page = (size_t)getpagesize();
	char *code = mmap(address, pages * page, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | (address ? MAP_FIXED : 0), fd, (off_t)(first * page));

	assert_true(code != MAP_FAILED);
	return code;
}

/* What is known of the code at `address`. */
static const struct question *ask_code(struct asker *asker, const char *address)
{
	memset(asker->questions, 0, sizeof(*asker->questions));
	asker->questions->asked = (u64)address;
	ask(asker->skeleton->progs.answer_codes);
	return asker->questions;
}

/* What a CPU remembers of mappings must never be what was there before. */
static void code_that_is_mapped_elsewhere_is_not_the_one_remembered(void **state)
{
	CLEANUP(asker_release) struct asker asker = {0};
	size_t page = (size_t)getpagesize();
	cpu_set_t all, one;
	u64 first_inode, second_inode;
	int first = make_code(&first_inode), second = make_code(&second_inode);
	const struct question *known;
	char *code;

	load(&asker, &(struct unwind_place){0});
	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one); /* whose memory it is */
	code = map_code(first, NULL, 2, 0);
	known = ask_code(&asker, code + 1);
	assert_int_equal(known->inode, first_inode);
	assert_int_equal(known->start, (u64)code);
	assert_int_equal(known->end, (u64)code + 2 * page);
	assert_false(known->was_known);

	/* data that comes and goes changes nothing, and nothing is learned anew */
	munmap(mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), page);
	known = ask_code(&asker, code + page);
	assert_int_equal(known->inode, first_inode);
	if (run(asker.skeleton->progs.can_prove_mappings))
		assert_true(known->was_known);

	/* another file of the same size, after the first has gone */
	munmap(code, 2 * page);
	assert_ptr_equal(map_code(second, code, 2, 0), code);
	known = ask_code(&asker, code + 1);
	assert_int_equal(known->inode, second_inode);
	assert_int_equal(known->file_offset, 0);

	/* another place of the same file, over it */
	map_code(second, code, 1, 1);
	known = ask_code(&asker, code + 1);
	assert_int_equal(known->inode, second_inode);
	assert_int_equal(known->file_offset, page);
	assert_int_equal(known->end, (u64)code + page);

	/* a part, data, nothing */
	map_code(first, code, 2, 0);
	assert_int_equal(ask_code(&asker, code + page)->inode, first_inode);
	munmap(code + page, page);
	assert_false(ask_code(&asker, code + page)->has_answer);
	assert_int_equal(ask_code(&asker, code)->end, (u64)code + page);
	assert_int_equal(mprotect(code, page, PROT_READ), 0);
	assert_false(ask_code(&asker, code)->has_answer);
	munmap(code, page);
	assert_false(ask_code(&asker, code)->has_answer);
	sched_setaffinity(0, sizeof(all), &all);
	close(first);
	close(second);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rule_found_in_the_kernel_is_the_one_found_outside),
		cmocka_unit_test(every_mapping_is_found_in_the_tree),
		cmocka_unit_test(code_that_is_mapped_elsewhere_is_not_the_one_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
