/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Printers side by side: together they print what one prints, and say what one says. */
#include "unit/perfdata/foreign.h"

#include "base/fail.h"
#include "base/memory.h"
#include "cmd/script_names.h"
#include "cmd/script_team.h"

#include <linux/perf_event.h>

enum { TYPE_MAPPING = PERF_RECORD_MMAP, TYPE_NAME = PERF_RECORD_COMM };

static const u64 type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN;
static const u64 attr_flags = 1ull << 18 | 1ull << 0; /* sample_id_all */

/* The trailer of what is no sample, and the record's end. */
static void end_of(struct foreign *foreign, u32 pid, u64 time_ns)
{
	put32(foreign, pid);
	put32(foreign, pid);
	put64(foreign, time_ns);
	record_end(foreign);
}

static void put_mapping(struct foreign *foreign, u32 pid, const char *path, u64 time_ns)
{
	record_begin(foreign, TYPE_MAPPING, PERF_RECORD_MISC_USER);
	put32(foreign, pid);
	put32(foreign, pid);
	put64(foreign, 0x1000 * (1 + time_ns % 5));
	put64(foreign, 0x4000);
	put64(foreign, 0);
	put_string(foreign, path, 24);
	end_of(foreign, pid, time_ns);
}

static void put_name(struct foreign *foreign, u32 pid, const char *name, u64 time_ns)
{
	record_begin(foreign, TYPE_NAME, 0);
	put32(foreign, pid);
	put32(foreign, pid);
	put_string(foreign, name, 8);
	end_of(foreign, pid, time_ns);
}

static void put_sample(struct foreign *foreign, u32 pid, u32 frames, u64 time_ns)
{
	record_begin(foreign, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put64(foreign, 0x1000);
	put32(foreign, pid);
	put32(foreign, pid);
	put64(foreign, time_ns);
	put64(foreign, frames + 1);
	put64(foreign, PERF_CONTEXT_USER);
	for (u32 i = 0; i < frames; i++)
		put64(foreign, 0x1000 + (time_ns * 7 + i * 0x131) % 0x7000);
	record_end(foreign);
}

/* Processes that take turns, and now and then map another file or get another name. */
static struct foreign recording(u32 samples, u32 most_frames)
{
	static const char *const paths[] = {"/one", "/two", "/three", "//anon", "[stack]"};
	struct foreign foreign = foreign_begin(false, type, attr_flags);

	for (u32 i = 0; i < samples; i++) {
		u32 pid = 10 + i % 3;

		if (i % 97 == 5)
			put_mapping(&foreign, pid, paths[i % ARRAY_COUNT(paths)], 1000 + 2 * i);
		if (i % 211 == 7)
			put_name(&foreign, pid, i % 2 ? "odd" : "even", 1000 + 2 * i);
		put_sample(&foreign, pid, i % most_frames, 1001 + 2 * i);
	}
	foreign_end(&foreign);
	return foreign;
}

/* What is printed of a recording, and how. */
struct printing {
	struct foreign foreign;
	struct perfdata *data;
	struct symbolizer *symbolizer;
	struct script_names *names;
	struct script_layout layout;
	struct filter_settings chosen;
};

static struct printing begin(struct foreign foreign)
{
	static const struct symbolize_settings nothing_opened = {.only_kept = true};
	struct printing printing = {
		.foreign = foreign,
		.layout.fields = SCRIPT_FIELDS_DEFAULT,
		.symbolizer = symbolizer_new(&nothing_opened),
	};

	assert_int_equal(perfdata_open_bytes((struct bytes){(const u8 *)foreign.bytes.bytes,
							    foreign.bytes.length},
					     &printing.data),
			 0);
	printing.names = script_names_new(printing.symbolizer, NULL);
	return printing;
}

static void end(struct printing *printing)
{
	script_names_free(printing->names);
	symbolizer_free(printing->symbolizer);
	perfdata_close(printing->data);
	text_release(&printing->foreign.bytes);
}

/* Prints by one printer, when reading returns what is expected. Owned by the caller. */
static char *print_alone(struct printing *printing, int expected)
{
	char *printed = NULL;
	size_t length;
	FILE *out = open_memstream(&printed, &length);
	struct script_printer *printer = script_printer_new(&printing->layout, printing->data,
							    printing->names, out);
	struct event_sink *halves[] = {script_printer_follower(printer),
				       script_printer_sink(printer)};
	struct event_sink *both = tee_new(halves, ARRAY_COUNT(halves));

	assert_int_equal(perfdata_read(printing->data, both), expected);
	assert_int_equal(script_printer_finish(printer), 0);
	tee_free(both);
	script_printer_free(printer);
	fclose(out);
	return printed;
}

static int print_together(struct printing *printing, FILE *out, u32 width)
{
	struct script_work work = {
		.layout = &printing->layout,
		.data = printing->data,
		.names = printing->names,
		.chosen = &printing->chosen,
		.out = out,
	};

	return script_team_print(&work, width);
}

static void prints_the_same_in_any_width(struct foreign foreign)
{
	static const u32 widths[] = {1, 2, 3, 8};
	struct printing printing = begin(foreign);
	char *alone = print_alone(&printing, 0);

	assert_true(strlen(alone) > 100000);
	for (size_t i = 0; i < ARRAY_COUNT(widths); i++) {
		char *printed = NULL;
		size_t length;
		FILE *out = open_memstream(&printed, &length);

		/* each begins with nothing known */
		script_names_free(printing.names);
		printing.names = script_names_new(printing.symbolizer, NULL);
		assert_int_equal(print_together(&printing, out, widths[i]), 0);
		fclose(out);
		assert_true(!strcmp(printed, alone));
		free(printed);
	}
	free(alone);
	end(&printing);
}

static void printers_together_print_what_one_prints(void **state)
{
	prints_the_same_in_any_width(recording(20000, 12));
	(void)state;
}

/* The first blocks, of which it is not known yet how much text they make, make too much. */
static void a_block_too_large_to_be_kept_is_written_in_pieces(void **state)
{
	prints_the_same_in_any_width(recording(1200, 3000));
	(void)state;
}

static void samples_that_print_nothing_are_none_of_a_block_s_bytes(void **state)
{
	struct printing printing = begin(recording(20000, 12));
	char *printed = NULL;
	size_t length;
	FILE *out = open_memstream(&printed, &length);

	printing.layout.comms = "nobody";
	assert_int_equal(print_together(&printing, out, 3), 0);
	fclose(out);
	assert_int_equal(length, 0);
	free(printed);
	end(&printing);
	(void)state;
}

static void a_full_disk_ends_all_of_them(void **state)
{
	struct printing printing = begin(recording(20000, 12));
	FILE *full = fopen("/dev/full", "w");

	assert_int_equal(print_together(&printing, full, 3), -ENOSPC);
	assert_string_equal(fail_sentence(),
			    "cannot write to standard output: No space left on device");
	fclose(full);
	end(&printing);
	(void)state;
}

static void damage_is_said_when_all_is_printed(void **state)
{
	struct foreign foreign = recording(20000, 12);
	struct printing printing;
	char *alone, *printed = NULL;
	size_t length;
	FILE *out = open_memstream(&printed, &length);

	foreign.bytes.length -= foreign.bytes.length / 3;
	printing = begin(foreign);
	alone = print_alone(&printing, -EBADMSG);
	assert_int_equal(print_together(&printing, out, 3), -EBADMSG);
	assert_non_null(strstr(fail_sentence(), "is cut at byte"));
	fclose(out);
	assert_true(!strcmp(printed, alone));
	free(printed);
	free(alone);
	end(&printing);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(printers_together_print_what_one_prints),
		cmocka_unit_test(a_block_too_large_to_be_kept_is_written_in_pieces),
		cmocka_unit_test(samples_that_print_nothing_are_none_of_a_block_s_bytes),
		cmocka_unit_test(a_full_disk_ends_all_of_them),
		cmocka_unit_test(damage_is_said_when_all_is_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
