/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* BPF code that was loaded before we record is told with the names and places of kallsyms. */
#include "base/file.h"
#include "base/memory.h"
#include "base/vec.h"
#include "capture/kernel_code.h"
#include "unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernel_code.skel.h"

enum { KALLSYMS_MAX_BYTES = 256 << 20 };

struct seen {
	struct event_sink sink;
	VEC(char *) symbols; /* "address name" */
	u32 mappings;
};

static int on_mapping(struct event_sink *self, const struct mapping *mapping)
{
	((struct seen *)self)->mappings += mapping->bytes > 0;
	return 0;
}

static int on_kernel_symbol(struct event_sink *self, const struct kernel_symbol *symbol)
{
	struct seen *seen = (struct seen *)self;

	assert_true(symbol->bytes > 0);
	*vec_add(&seen->symbols) = must_format("%016llx %s", (unsigned long long)symbol->start,
					       symbol->name);
	return 0;
}

static bool was_seen(const struct seen *seen, const char *symbol)
{
	for (size_t i = 0; i < seen->symbols.count; i++) {
		if (!strcmp(seen->symbols.items[i], symbol))
			return true;
	}
	return false;
}

static char *read_kallsyms(void)
{
	char *text;

	assert_int_equal(file_read("/proc/kallsyms", KALLSYMS_MAX_BYTES, &text, NULL), 0);
	return text;
}

/* Whether another name of the code at the same address was seen, which stands in the text, too:
 * older kernels (5.10) list a program's first function by two tags. */
static bool was_seen_by_another_name(const struct seen *seen, const char *address, const char *text)
{
	size_t length = strlen(address);

	for (size_t i = 0; i < seen->symbols.count; i++) {
		const char *symbol = seen->symbols.items[i];

		if (!strncmp(symbol, address, length) && strstr(text, symbol + length + 1))
			return true;
	}
	return false;
}

/* How many lines of BPF code were not seen, of those that are in both texts: others load and unload
 * programs, too. Cuts the first text into pieces. */
static size_t count_unseen(const struct seen *seen, char *before, const char *after)
{
	size_t unseen = 0;
	char *rest = before, *line;

	while ((line = strsep(&rest, "\n"))) {
		char address[17], name[512];
		CLEANUP(freep) char *symbol = NULL;

		if (!strstr(line, "\t[bpf]") || !strstr(after, line) ||
		    sscanf(line, "%16s %*c %511s", address, name) != 2)
			continue;
		symbol = must_format("%s %s", address, name);
		if (was_seen(seen, symbol) || was_seen_by_another_name(seen, address, after))
			continue;
		print_message("not told: %s\n", symbol);
		unseen++;
	}
	return unseen;
}

/* traced  whether a program with trampolines is among those loaded */
static void code_is_told_as_in_kallsyms(bool traced)
{
	struct seen seen = {
		.sink = {.on_mapping = on_mapping, .on_kernel_symbol = on_kernel_symbol}};
	struct kernel_code_bpf *programs = kernel_code_bpf__open();
	CLEANUP(freep) char *before = NULL, *after = NULL;

	assert_non_null(programs);
	bpf_program__set_autoload(programs->progs.traced, traced);
	assert_int_equal(kernel_code_bpf__load(programs), 0);
	assert_int_equal(kernel_code_bpf__attach(programs), 0);
	before = read_kallsyms();
	assert_non_null(strstr(before, "_a_program_with_a_name_of_some_length\t[bpf]"));
	assert_int_equal(kernel_code_send(&seen.sink), 0);
	after = read_kallsyms();
	assert_true(seen.mappings > 0);
	assert_int_equal(count_unseen(&seen, before, after), 0);
	for (size_t i = 0; i < seen.symbols.count; i++)
		free(seen.symbols.items[i]);
	vec_release(&seen.symbols);
	kernel_code_bpf__destroy(programs);
}

static void programs_with_functions_are_told_by_name(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	code_is_told_as_in_kallsyms(false);
}

static void trampolines_are_told_too(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	code_is_told_as_in_kallsyms(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_with_functions_are_told_by_name),
		cmocka_unit_test(trampolines_are_told_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
