/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names for the locations of a profile, from files, processes and the kernel.
 */
#include "symbolize/symbolize.h"
#include "unit/elf_maker.h"
#include "unit/unit.h"

#include "base/file.h"
#include "binary/binary.h"
#include "host/host.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const struct made_symbol functions[] = {
	{"_ZN3app3runEv", 0x1010, 0x20, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 1},
	{"plain", 0x1040, 0x20, STB_GLOBAL, STT_FUNC, STV_DEFAULT, 1},
};

enum { IN_RUN = 0x1018 - MADE_TEXT + MADE_OFFSET, IN_PLAIN = 0x1048 - MADE_TEXT + MADE_OFFSET };

struct fixture {
	char folder[64], file[80];
	struct profile *profile;
};

static int set_up(void **state)
{
	struct fixture *fixture = must_alloc(sizeof(*fixture));

	strcpy(fixture->folder, "/tmp/names-symbolize-XXXXXX");
	*state = fixture;
	if (!mkdtemp(fixture->folder))
		return -1;
	snprintf(fixture->file, sizeof(fixture->file), "%s/app", fixture->folder);
	fixture->profile = profile_new();
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	CLEANUP(freep) char *command = must_format("rm -rf %s", fixture->folder);
	int status = system(command); /* NOLINT(cert-env33-c) */

	profile_free(fixture->profile);
	free(fixture);
	return status;
}

/* Writes an ELF file with this first byte of build id. */
static void write_elf(const char *path, u8 id)
{
	struct made_elf made = {.id = {id}, .symbols = functions, .symbol_count = 2};
	CLEANUP(closep) int from = make_elf(&made);
	CLEANUP(closep) int to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700);
	struct bytes image;

	assert_int_equal(file_map_fd(from, &image), 0);
	assert_int_equal(file_write_all(to, image.start, image.length), 0);
	file_unmap(&image);
}

static location_id add_location(struct profile *profile, const char *path, struct binary_row binary,
				u64 address)
{
	const char *slash = strrchr(path, '/');

	binary.path = intern_text(&profile->strings, path);
	if (!binary.short_name)
		binary.short_name = intern_text(&profile->strings, slash ? slash + 1 : path);
	if (!binary.space)
		binary.space = SPACE_USER;
	if (!binary.owner_pid)
		binary.owner_pid = ~0u;
	return profile_location(profile, profile_binary(profile, &binary), address, binary.space);
}

static const struct binary_row file_seven = {
	.kind = BINARY_FILE, .build_id_bytes = 20, .build_id = {7}};
static const struct binary_row file_without_id = {.kind = BINARY_FILE};

static const char *name_of(const struct profile *profile, location_id id)
{
	const struct location_row *location = &profile->locations.items[id];
	function_id function;

	if (!location->line_count)
		return "(none)";
	function = profile->lines.items[location->first_line].function;
	return profile_text(profile, profile->functions.items[function].name);
}

static u8 reason_of(const struct profile *profile, location_id id)
{
	return profile->locations.items[id].unnamed;
}

static void name_all(struct profile *profile, struct symbolize_settings settings)
{
	CLEANUP(symbolizer_freep) struct symbolizer *symbolizer = symbolizer_new(&settings);

	symbolizer_run(symbolizer, profile);
}

static void functions_of_a_file_are_named_and_demangled_once(void **state)
{
	const struct fixture *fixture = *state;
	struct profile *profile = fixture->profile;
	location_id run, again, plain;

	write_elf(fixture->file, 7);
	run = add_location(profile, fixture->file, file_seven, IN_RUN);
	again = add_location(profile, fixture->file, file_seven, IN_RUN + 1);
	plain = add_location(profile, fixture->file, file_seven, IN_PLAIN);
	name_all(profile, (struct symbolize_settings){0});
	assert_string_equal(name_of(profile, run), "app::run");
	assert_string_equal(name_of(profile, again), "app::run");
	assert_string_equal(name_of(profile, plain), "plain");
	assert_int_equal(profile->functions.count, 3);
	assert_int_equal(profile->functions.items[1].start, 0x1010 - MADE_TEXT + MADE_OFFSET);
	assert_int_equal(profile->functions.items[1].end, 0x1030 - MADE_TEXT + MADE_OFFSET);
	assert_string_equal(profile_text(profile, profile->functions.items[1].raw_name),
			    "_ZN3app3runEv");
}

static struct {
	u64 most_done, total;
	u32 large_files;
	char path[64];
} heard;

static void hear_progress(const char *what, u64 done, u64 total)
{
	assert_string_equal(what, "naming");
	assert_true(done > heard.most_done && done <= total);
	heard.most_done = done;
	heard.total = total;
}

static void hear_large_file(const char *path)
{
	heard.large_files++;
	snprintf(heard.path, sizeof(heard.path), "%s", path);
}

static void what_may_take_long_is_told_beforehand(void **state)
{
	const struct fixture *fixture = *state;
	CLEANUP(freep) char *small = must_format("%s/small", fixture->folder);

	memset(&heard, 0, sizeof(heard));
	write_elf(fixture->file, 7);
	write_elf(small, 8);
	assert_int_equal(truncate(fixture->file, 64 << 20), 0);
	add_location(fixture->profile, fixture->file, file_seven, IN_RUN);
	add_location(fixture->profile, fixture->file, file_seven, IN_PLAIN);
	add_location(fixture->profile, small, file_without_id, IN_PLAIN);
	name_all(fixture->profile, (struct symbolize_settings){.on_progress = hear_progress,
							       .on_large_file = hear_large_file});
	assert_int_equal(heard.most_done, 3);
	assert_int_equal(heard.large_files, 1);
	assert_string_equal(heard.path, fixture->file);
}

static void raw_names_stay_mangled(void **state)
{
	const struct fixture *fixture = *state;
	location_id run;

	write_elf(fixture->file, 7);
	run = add_location(fixture->profile, fixture->file, file_seven, IN_RUN);
	name_all(fixture->profile, (struct symbolize_settings){.raw_names = true});
	assert_string_equal(name_of(fixture->profile, run), "_ZN3app3runEv");
}

static void an_address_between_functions_stays_and_says_why(void **state)
{
	const struct fixture *fixture = *state;
	location_id gap, nowhere;

	write_elf(fixture->file, 7);
	gap = add_location(fixture->profile, fixture->file, file_seven, 8);
	nowhere = profile_location(fixture->profile, 0, 0x1234, SPACE_USER);
	name_all(fixture->profile, (struct symbolize_settings){0});
	assert_string_equal(name_of(fixture->profile, gap), "(none)");
	assert_int_equal(reason_of(fixture->profile, gap), UNNAMED_NO_SYMBOLS);
	assert_int_equal(reason_of(fixture->profile, nowhere), UNNAMED_NO_MAPPING);
}

static void a_file_that_was_replaced_never_gives_a_name(void **state)
{
	const struct fixture *fixture = *state;
	location_id run;

	write_elf(fixture->file, 8);
	run = add_location(fixture->profile, fixture->file, file_seven, IN_RUN);
	name_all(fixture->profile, (struct symbolize_settings){0});
	assert_string_equal(name_of(fixture->profile, run), "(none)");
	assert_int_equal(reason_of(fixture->profile, run), UNNAMED_REPLACED);
	assert_int_equal(fixture->profile->binaries.items[1].unnamed, UNNAMED_REPLACED);
}

static void a_file_of_another_inode_gives_no_name_to_what_was_recorded_here(void **state)
{
	const struct fixture *fixture = *state;
	struct profile *profile = fixture->profile;
	struct binary_row row = file_without_id;
	location_id other, elsewhere;
	struct stat status;

	write_elf(fixture->file, 7);
	assert_int_equal(stat(fixture->file, &status), 0);
	row.major = major(status.st_dev);
	row.minor = minor(status.st_dev);
	row.inode = status.st_ino + 1;
	other = add_location(profile, fixture->file, row, IN_PLAIN);
	row.major++;
	elsewhere = add_location(profile, fixture->file, row, IN_PLAIN);
	name_all(profile, (struct symbolize_settings){0});
	assert_int_equal(reason_of(profile, other), UNNAMED_REPLACED);
	assert_string_equal(name_of(profile, elsewhere), "plain"); /* nobody can tell */
	profile->locations.items[other].unnamed = UNNAMED_NOT;
	name_all(profile, (struct symbolize_settings){.is_from_elsewhere = true});
	assert_string_equal(name_of(profile, other), "plain");
}

static void what_is_gone_or_no_elf_file_says_so(void **state)
{
	const struct fixture *fixture = *state;
	CLEANUP(freep) char *fifo = must_format("%s/fifo", fixture->folder);
	location_id gone, script, pipe;

	assert_int_equal(mkfifo(fifo, 0600), 0);
	gone = add_location(fixture->profile, "/nonexistent/app", file_seven, IN_RUN);
	script = add_location(fixture->profile, "/etc/passwd", file_seven, IN_RUN);
	pipe = add_location(fixture->profile, fifo, file_seven, IN_RUN);
	name_all(fixture->profile, (struct symbolize_settings){0});
	assert_int_equal(reason_of(fixture->profile, gone), UNNAMED_NO_FILE);
	assert_int_equal(reason_of(fixture->profile, script), UNNAMED_NOT_ELF);
	assert_int_equal(reason_of(fixture->profile, pipe), UNNAMED_NO_FILE);
}

static void a_deleted_file_is_read_through_the_process_that_maps_it(void **state)
{
	const struct fixture *fixture = *state;
	CLEANUP(freep) char *path = must_format("%s (deleted)", fixture->file);
	struct binary_row with_id = file_seven, without_id = file_without_id;
	location_id known, unknown, renamed;
	void *mapped;
	int fd;

	if (geteuid() != 0) {
		print_message("skipped: /proc/PID/map_files is root's\n");
		skip();
	}
	write_elf(fixture->file, 7);
	fd = open(fixture->file, O_RDONLY);
	mapped = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	assert_true(mapped != MAP_FAILED);
	unlink(fixture->file);
	write_elf(fixture->file, 9); /* another one takes its place */
	with_id.owner_pid = without_id.owner_pid = (u32)getpid();
	known = add_location(fixture->profile, path, with_id, IN_PLAIN);
	unknown = add_location(fixture->profile, path, without_id, IN_PLAIN);
	renamed = add_location(fixture->profile, fixture->file, with_id, IN_PLAIN);
	name_all(fixture->profile, (struct symbolize_settings){0});
	assert_string_equal(name_of(fixture->profile, known), "plain");
	assert_string_equal(name_of(fixture->profile, unknown), "plain");
	assert_string_equal(name_of(fixture->profile, renamed), "plain");
	munmap(mapped, 4096);
}

static void a_deleted_file_without_id_and_process_is_not_looked_for_at_its_path(void **state)
{
	const struct fixture *fixture = *state;
	CLEANUP(freep) char *path = must_format("%s (deleted)", fixture->file);
	location_id id;

	write_elf(fixture->file, 9);
	id = add_location(fixture->profile, path, file_without_id, IN_PLAIN);
	name_all(fixture->profile, (struct symbolize_settings){0});
	assert_int_equal(reason_of(fixture->profile, id), UNNAMED_NO_FILE);
}

static void below_symfs_nothing_else_is_looked_at(void **state)
{
	const struct fixture *fixture = *state;
	location_id app, true_program;

	write_elf(fixture->file, 7);
	app = add_location(fixture->profile, "/app", file_seven, IN_PLAIN);
	true_program = add_location(fixture->profile, "/usr/bin/true", file_without_id, 0x2100);
	name_all(fixture->profile, (struct symbolize_settings){.symfs = fixture->folder});
	assert_string_equal(name_of(fixture->profile, app), "plain");
	assert_int_equal(reason_of(fixture->profile, true_program), UNNAMED_NO_FILE);
}

static void our_own_code_is_named_through_our_mapping(void **state)
{
	const struct fixture *fixture = *state;
	CLEANUP(freep) char *maps = NULL;
	char path[4096];
	struct bytes text;
	struct mapping mapping;
	u64 here = (u64)(uintptr_t)&our_own_code_is_named_through_our_mapping;
	location_id id = 0;

	assert_int_equal(file_read("/proc/self/maps", 1 << 20, &maps, &text.length), 0);
	text.start = (u8 *)maps;
	while (proc_maps_next(&text, 0, path, &mapping) == 1) {
		if (here >= mapping.start && here - mapping.start < mapping.bytes)
			id = add_location(fixture->profile, path, file_without_id,
					  here - mapping.start + mapping.file_offset);
	}
	name_all(fixture->profile, (struct symbolize_settings){0});
	assert_string_equal(name_of(fixture->profile, id),
			    "our_own_code_is_named_through_our_mapping");
}

static void the_vdso_is_named_unless_it_is_another_one(void **state)
{
	const struct fixture *fixture = *state;
	struct binary_row vdso = {.kind = BINARY_VDSO};
	struct binary_row other = {.kind = BINARY_VDSO, .build_id_bytes = 20, .build_id = {1}};
	size_t named = 0;
	location_id id;

	for (u64 offset = 0; offset < 0x2000; offset += 16)
		add_location(fixture->profile, "[vdso]", vdso, offset);
	name_all(fixture->profile, (struct symbolize_settings){0});
	for (id = 1; id < fixture->profile->locations.count; id++)
		named += strstr(name_of(fixture->profile, id), "clock_gettime") != NULL;
	assert_true(named > 0);
	id = add_location(fixture->profile, "[vdso]", other, 0x800);
	name_all(fixture->profile, (struct symbolize_settings){0});
	assert_int_equal(reason_of(fixture->profile, id), UNNAMED_REPLACED);
}

static location_id add_kernel(struct profile *profile, u64 reference, u8 id_bytes, u64 address)
{
	struct binary_row kernel = {.kind = BINARY_KERNEL,
				    .space = SPACE_KERNEL,
				    .start = reference,
				    .end = UINT64_MAX,
				    .reference = reference,
				    .build_id_bytes = id_bytes,
				    .build_id = {0xde, 0xad}};

	return add_location(profile, "[kernel.kallsyms]", kernel, address);
}

static void write_kallsyms(const char *path)
{
	static const char text[] = "ffffffff81000000 T _text\nffffffff81000100 T do_work\n"
				   "ffffffff81000200 T _etext\n";
	CLEANUP(closep) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(file_write_all(fd, text, sizeof(text) - 1), 0);
}

static void a_kernel_that_lay_elsewhere_is_named_by_its_reference_symbol(void **state)
{
	const struct fixture *fixture = *state;
	struct symbolize_settings settings = {.kallsyms = fixture->file};
	location_id moved, same, unknown;
	const struct function_row *function;

	write_kallsyms(fixture->file);
	moved = add_kernel(fixture->profile, 0xffffffff9a000000, 0, 0xffffffff9a000180);
	name_all(fixture->profile, settings);
	assert_string_equal(name_of(fixture->profile, moved), "do_work");
	function = &fixture->profile->functions.items[1];
	assert_int_equal(function->start, 0xffffffff9a000100);
	assert_int_equal(function->end, 0xffffffff9a000200);

	same = add_kernel(fixture->profile, 0xffffffff81000000, 20, 0xffffffff81000180);
	unknown = add_kernel(fixture->profile, 0, 19, 0xffffffff81000180);
	name_all(fixture->profile, settings);
	assert_string_equal(name_of(fixture->profile, same), "do_work");
	assert_string_equal(name_of(fixture->profile, unknown), "do_work");
}

static void another_kernels_addresses_stay_unnamed(void **state)
{
	const struct fixture *fixture = *state;
	location_id id = add_kernel(fixture->profile, 0xffffffff81000000, 20, 0xffffffff81001000);

	name_all(fixture->profile, (struct symbolize_settings){0});
	assert_int_equal(reason_of(fixture->profile, id), UNNAMED_KERNEL_HIDDEN);
}

static void a_kernel_image_is_taken_if_its_build_id_fits(void **state)
{
	const struct fixture *fixture = *state;
	CLEANUP(freep) char *boot = must_format("%s/boot", fixture->folder);
	CLEANUP(freep) char *image = must_format("%s/vmlinux-6.1.0", boot);
	struct binary_row kernel = {.kind = BINARY_KERNEL,
				    .space = SPACE_KERNEL,
				    .build_id_bytes = 20,
				    .build_id = {7}},
			  other = kernel;
	location_id fits, differs;

	other.build_id[0] = 8;
	mkdir(boot, 0700);
	write_elf(image, 7);
	fits = add_location(fixture->profile, "[kernel.kallsyms]", kernel, 0x1048);
	differs = add_location(fixture->profile, "[kernel.kallsyms]", other, 0x1048);
	name_all(fixture->profile, (struct symbolize_settings){.symfs = fixture->folder});
	assert_string_equal(name_of(fixture->profile, fits), "plain");
	assert_int_equal(reason_of(fixture->profile, differs), UNNAMED_KERNEL_HIDDEN);
}

static void kernel_addresses_are_left_alone_if_asked_for(void **state)
{
	const struct fixture *fixture = *state;
	location_id id = add_kernel(fixture->profile, 0xffffffff81000000, 20, 0xffffffff81001000);

	name_all(fixture->profile, (struct symbolize_settings){.skip_kernel = true});
	assert_int_equal(reason_of(fixture->profile, id), UNNAMED_NOT);
}

static void a_bpf_program_is_one_function_of_its_own_name(void **state)
{
	const struct fixture *fixture = *state;
	struct binary_row program = {.kind = BINARY_KSYMBOL,
				     .space = SPACE_KERNEL,
				     .start = 0xffffffffc0001000,
				     .end = 0xffffffffc0001100};
	location_id id = add_location(fixture->profile, "bpf_prog_0123456789abcdef_on_sample",
				      program, 0xffffffffc0001042);

	name_all(fixture->profile, (struct symbolize_settings){0});
	assert_string_equal(name_of(fixture->profile, id), "bpf_prog_0123456789abcdef_on_sample");
	assert_int_equal(fixture->profile->functions.items[1].start, 0xffffffffc0001000);
}

static void one_symbolizer_names_one_profile_after_the_other(void **state)
{
	const struct fixture *fixture = *state;
	CLEANUP(symbolizer_freep)
	struct symbolizer *symbolizer = symbolizer_new(&(struct symbolize_settings){0});

	write_elf(fixture->file, 7);
	for (int round = 0; round < 3; round++) {
		struct profile *profile = profile_new();
		location_id run, plain;

		/* Rows come in another order each time. */
		if (round == 1)
			add_location(profile, "/nonexistent", file_seven, 1);
		if (round == 2)
			add_location(profile, fixture->file, file_seven, IN_PLAIN);
		run = add_location(profile, fixture->file, file_seven, IN_RUN);
		plain = add_location(profile, fixture->file, file_seven, IN_PLAIN);
		for (location_id id = 1; id < profile->locations.count; id++)
			symbolizer_name(symbolizer, profile, id);
		assert_string_equal(name_of(profile, run), "app::run");
		assert_string_equal(name_of(profile, plain), "plain");
		profile_free(profile);
		/* The file is gone, its names are kept. */
		unlink(fixture->file);
	}
}

#define with_fixture(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(functions_of_a_file_are_named_and_demangled_once),
		with_fixture(what_may_take_long_is_told_beforehand),
		with_fixture(raw_names_stay_mangled),
		with_fixture(an_address_between_functions_stays_and_says_why),
		with_fixture(a_file_that_was_replaced_never_gives_a_name),
		with_fixture(a_file_of_another_inode_gives_no_name_to_what_was_recorded_here),
		with_fixture(what_is_gone_or_no_elf_file_says_so),
		with_fixture(a_deleted_file_is_read_through_the_process_that_maps_it),
		with_fixture(a_deleted_file_without_id_and_process_is_not_looked_for_at_its_path),
		with_fixture(below_symfs_nothing_else_is_looked_at),
		with_fixture(our_own_code_is_named_through_our_mapping),
		with_fixture(the_vdso_is_named_unless_it_is_another_one),
		with_fixture(a_kernel_that_lay_elsewhere_is_named_by_its_reference_symbol),
		with_fixture(another_kernels_addresses_stay_unnamed),
		with_fixture(a_kernel_image_is_taken_if_its_build_id_fits),
		with_fixture(kernel_addresses_are_left_alone_if_asked_for),
		with_fixture(a_bpf_program_is_one_function_of_its_own_name),
		with_fixture(one_symbolizer_names_one_profile_after_the_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
