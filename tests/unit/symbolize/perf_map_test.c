/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of JIT code: reading perf maps, and whom to believe.
 */
#include "symbolize/finder.h"
#include "unit/unit.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *name_at(const struct symbols *symbols, u64 address)
{
	const struct symbol *symbol = symbols_find(symbols, address);

	return symbol ? symbol->name : "(none)";
}

static int read_text(const char *text, struct symbols *symbols)
{
	return perf_map_read((struct bytes){(const u8 *)text, strlen(text)}, symbols);
}

static void lines_are_read_with_and_without_prefix_and_end(void **state)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();

	(void)state;
	assert_int_equal(read_text("7f0010 20 LazyCompile:*run /app/x.js:3\n"
				   "0x7f0100 0x10 B::b\n"
				   "7F0200 0 sizeless\n"
				   "7f0300 8 last",
				   symbols),
			 0);
	assert_string_equal(name_at(symbols, 0x7f002f), "LazyCompile:*run /app/x.js:3");
	assert_string_equal(name_at(symbols, 0x7f0030), "(none)");
	assert_string_equal(name_at(symbols, 0x7f0100), "B::b");
	assert_string_equal(name_at(symbols, 0x7f0200), "sizeless");
	assert_string_equal(name_at(symbols, 0x7f0201), "(none)");
	assert_string_equal(name_at(symbols, 0x7f0307), "last");
}

static void of_two_functions_at_one_address_the_later_counts(void **state)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();

	(void)state;
	assert_int_equal(read_text("1000 100 old_and_much_longer\n1000 80 new\n", symbols), 0);
	assert_string_equal(name_at(symbols, 0x1000), "new");
	assert_string_equal(name_at(symbols, 0x1090), "(none)");
}

static void lines_that_are_none_are_passed_over(void **state)
{
	CLEANUP(symbols_freep) struct symbols *symbols = symbols_new();

	(void)state;
	assert_int_equal(read_text("\n1000\n1000 10\n1000 10 \nxyz 10 name\n1000 zz name\n"
				   "11111111111111111 10 name\n0x 10 name\n",
				   symbols),
			 -ENODATA);
	assert_int_equal(read_text("", symbols), -ENODATA);
	assert_int_equal(read_text("ffffffffffffffff ffffffffffffffff wraps\n", symbols), 0);
}

/* A process with a map of its own in /tmp: this one. */
struct jit {
	char path[64];
	struct binary_row binary;
	struct symbolize_settings settings;
	struct finder_context context;
};

static struct jit our_jit(void)
{
	struct jit jit = {.binary = {.kind = BINARY_JIT, .owner_pid = (u32)getpid()}};

	snprintf(jit.path, sizeof(jit.path), "/tmp/perf-%d.map", getpid());
	unlink(jit.path);
	return jit;
}

static void write_map(const char *path, const char *text)
{
	CLEANUP(closep) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(file_write_all(fd, text, strlen(text)), 0);
}

static const char *load(struct jit *jit, struct name_source *ret_source)
{
	jit->context = (struct finder_context){.settings = &jit->settings};
	perf_map_finder_load(&jit->context, &jit->binary, ret_source);
	return ret_source->symbols ? name_at(ret_source->symbols, 0x1000) : "(no map)";
}

static void a_map_of_ours_is_believed_and_one_that_is_a_link_is_not(void **state)
{
	struct jit jit = our_jit();
	CLEANUP(freep) char *target = must_format("%s.target", jit.path);
	struct name_source source;

	(void)state;
	assert_string_equal(load(&jit, &source), "(no map)");
	assert_int_equal(source.unnamed, UNNAMED_NO_JIT_MAP);
	write_map(jit.path, "1000 10 ours\n");
	assert_string_equal(load(&jit, &source), "ours");
	symbols_free(source.owned);

	assert_int_equal(rename(jit.path, target), 0);
	assert_int_equal(symlink(target, jit.path), 0);
	assert_string_equal(load(&jit, &source), "(no map)");
	unlink(jit.path);
	assert_int_equal(mkfifo(jit.path, 0600), 0);
	assert_string_equal(load(&jit, &source), "(no map)");
	unlink(jit.path);
	unlink(target);
}

static void a_map_of_somebody_else_is_not_believed(void **state)
{
	struct jit jit = our_jit();
	struct name_source source;

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: only root gives files away\n");
		skip();
	}
	write_map(jit.path, "1000 10 theirs\n");
	assert_int_equal(chown(jit.path, 65534, 65534), 0);
	assert_string_equal(load(&jit, &source), "(no map)");
	unlink(jit.path);
}

static void a_map_that_has_grown_has_another_stamp(void **state)
{
	struct jit jit = our_jit();
	struct name_source source;

	(void)state;
	write_map(jit.path, "1000 10 one\n");
	assert_string_equal(load(&jit, &source), "one");
	symbols_free(source.owned);
	assert_true(source.stamp == perf_map_stamp(&jit.context, &jit.binary));
	write_map(jit.path, "1000 10 one\n2000 10 two\n");
	assert_true(source.stamp != perf_map_stamp(&jit.context, &jit.binary));
	unlink(jit.path);
	assert_int_equal(perf_map_stamp(&jit.context, &jit.binary), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_read_with_and_without_prefix_and_end),
		cmocka_unit_test(of_two_functions_at_one_address_the_later_counts),
		cmocka_unit_test(lines_that_are_none_are_passed_over),
		cmocka_unit_test(a_map_of_ours_is_believed_and_one_that_is_a_link_is_not),
		cmocka_unit_test(a_map_of_somebody_else_is_not_believed),
		cmocka_unit_test(a_map_that_has_grown_has_another_stamp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
